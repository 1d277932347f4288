/** What the bundler makes of files that are no modules. */
declare module '*.css'
declare module '*?worker&url' {
  const url: string
  export default url
}
