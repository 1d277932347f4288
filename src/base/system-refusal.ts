import { string } from './foreign.ts'

/** What the system refuses, in words, and what to do about it. */
const REFUSALS: Readonly<Record<string, { readonly says: string; readonly hint: string }>> = {
  ENOSPC: { says: 'the disk is full', hint: 'Free some space, then run it again.' },
  EDQUOT: { says: 'the disk quota is used up', hint: 'Free some space, then run it again.' },
  EFBIG: {
    says: 'the file would be larger than is allowed',
    hint: 'Write it elsewhere, or raise `ulimit -f`.',
  },
  EROFS: { says: 'the file system is read-only', hint: 'Choose another place, or make it writable.' },
  EACCES: {
    says: 'permission denied',
    hint: 'Check the permissions of the file and of the folders above it.',
  },
  EPERM: { says: 'permission denied', hint: 'Check the owner and the permissions of the file.' },
  ENOENT: { says: 'no such file or folder', hint: 'Check that the folder exists.' },
  ENOTDIR: { says: 'a part of the path is not a folder', hint: 'Check the path.' },
  EISDIR: { says: 'it is a folder', hint: 'Name a file.' },
  ELOOP: { says: 'its links lead in a circle', hint: 'Give its real path.' },
  ENAMETOOLONG: { says: 'the name is too long', hint: 'Give a shorter one.' },
  EMFILE: { says: 'too many files are open', hint: 'Raise the limit with `ulimit -n`, then run it again.' },
  ENFILE: {
    says: 'too many files are open on this machine',
    hint: 'Close some programs, then run it again.',
  },
  EIO: { says: 'the disk reports an error', hint: 'Check the disk; copy what matters elsewhere first.' },
}

/** Why the system refuses, in words, with what to do; nothing for any other error. */
export function findSystemRefusal(
  error: unknown,
): { readonly says: string; readonly hint: string } | undefined {
  return string(error, 'syscall') === undefined ? undefined : REFUSALS[string(error, 'code') ?? '']
}
