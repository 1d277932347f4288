/**
 * What runs in the page: finds the databases, reads them with the Fireproof of the application itself, and where that
 * says that a block is missing, loads every archive first, then puts documents together from the blocks.
 */
const FIREPROOF_SALVAGE: string = String.raw`
'use strict';

/** A value of DAG-CBOR. Links are given as { link: <hex> }. */
function decodeCbor(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  function length(info) {
    if (info < 24) return info;
    if (info === 24) return view.getUint8(at++);
    if (info === 25) { at += 2; return view.getUint16(at - 2); }
    if (info === 26) { at += 4; return view.getUint32(at - 4); }
    if (info === 27) { at += 8; return Number(view.getBigUint64(at - 8)); }
    throw new Error('a length that is none');
  }
  function read() {
    const first = view.getUint8(at++);
    const major = first >> 5, info = first & 31;
    if (major === 7) {
      if (info === 20) return false;
      if (info === 21) return true;
      if (info === 22 || info === 23) return null;
      if (info === 26) { at += 4; return view.getFloat32(at - 4); }
      if (info === 27) { at += 8; return view.getFloat64(at - 8); }
      throw new Error('a value that is none');
    }
    const count = length(info);
    if (major === 0) return count;
    if (major === 1) return -1 - count;
    if (major === 2 || major === 3) {
      const piece = bytes.subarray(at, at + count);
      at += count;
      return major === 2 ? piece : new TextDecoder().decode(piece);
    }
    if (major === 4) return Array.from({ length: count }, read);
    if (major === 5) {
      const entries = [];
      for (let n = 0; n < count; n++) { const key = read(); entries.push([key, read()]); }
      return Object.fromEntries(entries);
    }
    const tagged = read();
    return count === 42 && tagged instanceof Uint8Array ? { link: toHex(tagged.subarray(1)) } : tagged;
  }
  return read();
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The documents that some blocks hold: [{ cid: <hex>, value }]. Of competing versions the one counts that no other
 * follows; the order of the blocks says nothing.
 */
function joinBlocks(blocks) {
  const docs = new Map(), events = new Map(), ends = new Set();
  for (const { cid, value } of blocks) {
    if (value && typeof value === 'object' && value.doc) docs.set(cid, value.doc);
    if (value && typeof value === 'object' && value.del === true) ends.add(cid);
    if (value && typeof value === 'object' && value.data && typeof value.data.key === 'string') events.set(cid, value);
  }
  const parentsOf = (cid) => (events.get(cid)?.parents ?? []).map((parent) => parent.link);
  const byKey = new Map();
  for (const [cid, { data }] of events) byKey.set(data.key, [...(byKey.get(data.key) ?? []), cid]);
  const found = [];
  const used = new Set();
  for (const [key, cids] of byKey) {
    // The first block of every database, which nobody wrote.
    if (key.includes('fireproofgenesisblock')) continue;
    const older = new Set();
    for (const cid of cids) {
      const way = parentsOf(cid);
      const seen = new Set();
      while (way.length > 0) {
        const one = way.pop();
        if (seen.has(one)) continue;
        seen.add(one);
        older.add(one);
        way.push(...parentsOf(one));
      }
    }
    for (const cid of cids) used.add(events.get(cid).data.value?.link);
    const newest = cids.filter((cid) => !older.has(cid)).toSorted();
    const last = newest.map((cid) => events.get(cid).data)
      .filter(({ value, type }) => type === 'del' || ends.has(value?.link) || docs.has(value?.link));
    const put = last.findLast(({ value }) => docs.has(value?.link));
    if (put) found.push({ ...docs.get(put.value.link), _id: key });
    else if (last.length > 0) found.push({ _id: key, _deleted: true });
  }
  for (const [cid, doc] of docs) {
    if (!used.has(cid) && doc._id && !byKey.has(doc._id)) found.push(doc);
  }
  return found;
}

/** Every archive of a database, by the keys that the browser has of them. */
async function loadArchives(name, loader) {
  const links = [...(loader.carLog?.asArray?.() ?? loader.carLog ?? [])].flat(3);
  const Link = links.find((link) => typeof link?.constructor?.parse === 'function')?.constructor;
  if (!Link) throw new Error('no archive of this database is known');
  const keys = await new Promise((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const asking = opening.result.transaction('data').objectStore('data').getAllKeys();
      asking.onerror = () => reject(asking.error);
      asking.onsuccess = () => { opening.result.close(); resolve(asking.result); };
    };
  });
  const readers = [];
  for (const key of keys) {
    try { readers.push(await loader.loadCar(Link.parse(String(key)), loader.attachedStores.local())); }
    catch (error) { say('An archive cannot be read: ' + key + ' (' + error.message + ')'); }
  }
  return readers;
}

async function blocksOf(readers) {
  const blocks = [];
  for (const reader of readers) {
    for await (const block of reader?.item?.value?.car?.blocks ?? reader?.blocks ?? []) {
      try { blocks.push({ cid: toHex(block.cid.bytes), value: block.value ?? decodeCbor(block.bytes) }); }
      catch { /* A block of another kind: no document is in it. */ }
    }
  }
  return blocks;
}

async function readRows(db) {
  const { rows } = await db.allDocs();
  return rows.map(({ key, value }) => ({ _id: key, ...value }));
}

/** All documents of a database, by the first way that works. */
async function readDatabase(name, fireproof) {
  const db = fireproof(name.replace(/^fp\./, ''));
  try { return await readRows(db); }
  catch (error) { say(name + ': ' + error.message + '. Loading every archive of it.'); }
  const readers = await loadArchives(name, db.ledger.crdt.blockstore.loader);
  try { return await readRows(db); }
  catch (error) { say(name + ': ' + error.message + '. Putting documents together from the blocks.'); }
  return joinBlocks(await blocksOf(readers));
}

function say(line) {
  document.getElementById('said').append(line + '\n');
}

async function exportAll() {
  const module = await import(new URL(document.getElementById('bundle').value, location.href).href);
  const fireproof = module.fireproof ?? module.default?.fireproof ?? globalThis.Fireproof?.fireproof;
  if (typeof fireproof !== 'function') throw new Error('there is no "fireproof" in this file');
  const names = (await indexedDB.databases()).map(({ name }) => name ?? '')
    .filter((name) => name.startsWith('fp.') && !/keybag/i.test(name)).toSorted();
  if (names.length === 0) say('This origin has no Fireproof database. Is it the address of the old application?');
  for (const name of names) {
    try {
      const docs = await readDatabase(name, fireproof);
      say(name + ': ' + docs.length + ' documents');
      const text = docs.map((doc) => JSON.stringify(doc) + '\n').join('');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
      link.download = name.replaceAll(/[^\w.-]/g, '-') + '.ndjson';
      link.textContent = 'Save ' + link.download;
      const line = document.createElement('p');
      line.append(link);
      document.getElementById('files').append(line);
    } catch (error) { say(name + ' cannot be read: ' + error.message); }
  }
}
`

/** The page: to be put where the old application was served from, for a browser gives a database to nobody else. */
export const FIREPROOF_EXPORTER: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Export of Fireproof databases</title>
<style>body{font:16px/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}input{width:100%}pre{white-space:pre-wrap}</style>
<h1>Export of Fireproof databases</h1>
<ol>
<li>This page has to be served by the same address as the application that wrote the databases: put it into the folder that the application is served from, and open it there, in the same browser.</li>
<li>Name the file that the application loads Fireproof from, so that the same version reads what it wrote.</li>
<li>Save each file, then run <code>throughline import fireproof &lt;file&gt;</code>.</li>
</ol>
<p>Nothing leaves this page, and the databases are only read.</p>
<label>Fireproof <input id="bundle" value="./bundles/fireproof-clerk-bundle.js"></label>
<p><button id="begin">Export</button></p>
<div id="files"></div>
<pre id="said"></pre>
<script>
${FIREPROOF_SALVAGE.trim()}

document.getElementById('begin').addEventListener('click', () => {
  exportAll().catch((error) => say('It did not work: ' + error.message));
});
</script>
</html>
`
