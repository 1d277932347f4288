/** How many sessions wait for a person: in the title and on the icon of the tab, where it is seen from elsewhere. */
export function showWaiting(count: number): void {
  document.title = count === 0 ? 'Throughline' : `(${count}) Throughline`
  const icon = document.getElementById('icon')
  icon?.setAttribute('href', count === 0 ? '/icon.svg' : '/icon-waiting.svg')
}
