/**
 * What the first page does: logs in with the code of the address, shows the list and keeps it current, searches. Text
 * of sessions only ever becomes text.
 */
export const SHELL_SCRIPT: string = String.raw`
'use strict';
(() => {
  const KEY = 'throughline.token';
  const $ = (id) => document.getElementById(id);
  const results = $('results'), query = $('query'), summary = $('summary'), status = $('status');
  const sessions = new Map();
  let token = localStorage.getItem(KEY), socket, pause = 250, drawing = 0, asked = 0, loaded = false;

  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  async function ask(method, path, body) {
    const response = await fetch(path, {
      method,
      headers: Object.assign(token ? { authorization: 'Bearer ' + token } : {}, body ? { 'content-type': 'application/json' } : {}),
      body: body && JSON.stringify(body),
    });
    if (response.status === 401 && path !== '/api/login') { forget(); throw new Error('logged out'); }
    const text = await response.text();
    const value = text ? JSON.parse(text) : undefined;
    if (!response.ok) throw Object.assign(new Error(value.message), { hint: value.hint });
    return value;
  }

  function forget() {
    localStorage.removeItem(KEY);
    token = null;
    if (socket) socket.close();
    explain('This browser is not logged in', 'Open Throughline from a terminal on the machine it runs on. It logs this browser in once.', 'throughline open');
  }

  function explain(title, text, command) {
    $('search').hidden = true;
    summary.textContent = status.textContent = '';
    results.replaceChildren();
    const notice = $('notice');
    notice.hidden = false;
    notice.querySelector('h2').textContent = title;
    notice.querySelector('p').textContent = text;
    notice.querySelector('pre').textContent = command;
  }

  function age(at) {
    const minutes = (Date.now() - Date.parse(at)) / 60000;
    if (Number.isNaN(minutes)) return '';
    if (minutes < 1) return 'now';
    if (minutes < 60) return Math.floor(minutes) + ' min';
    if (minutes < 1440) return Math.floor(minutes / 60) + ' h';
    if (minutes < 43200) return Math.floor(minutes / 1440) + ' d';
    return new Date(at).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
  }

  const STATES = { busy: 'working', waiting: 'waiting for you', idle: 'idle', gone: 'gone', unknown: 'live' };

  function stateOf(session) {
    if (session.live) return [session.live.status, STATES[session.live.status] || 'live'];
    if (session.state === 'damaged' || session.state === 'unreadable') return [session.state, session.state];
    return ['', session.sourceGone ? 'archived' : ''];
  }

  function titleOf(session) {
    return session.name || 'Session ' + session.id.slice(0, 8);
  }

  function row(id, title, at, where, state) {
    const item = make('li');
    item.tabIndex = -1;
    item.dataset.id = id;
    const name = make('span', 'name', title);
    const time = make('time', 'age', age(at));
    if (at) { time.dateTime = at; time.title = new Date(at).toLocaleString(); }
    const place = make('span', 'where');
    place.append(make('bdi', '', where || ''));
    place.title = where || '';
    item.append(name, time, place, make('span', 'state ' + state[0], state[1]));
    return item;
  }

  function sessionRow(session) {
    const dirs = session.workdirs || [];
    const item = row(session.id, titleOf(session), session.lastActivityAt, dirs[dirs.length - 1], stateOf(session));
    if (session.starred) {
      const star = make('span', 'star', '★');
      star.setAttribute('aria-label', 'starred');
      item.firstChild.prepend(star);
    }
    return item;
  }

  function draw() {
    drawing = 0;
    if (query.value.trim() !== '' || !loaded) return;
    const all = [...sessions.values()].sort((a, b) => (b.lastActivityAt || '').localeCompare(a.lastActivityAt || ''));
    const waiting = all.filter((one) => one.live && one.live.status === 'waiting').length;
    summary.textContent = all.length.toLocaleString() + (all.length === 1 ? ' session' : ' sessions') +
      (waiting ? ' · ' + waiting + ' waiting for you' : '');
    document.title = (waiting ? '(' + waiting + ') ' : '') + 'Throughline';
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.id : undefined;
    results.replaceChildren(...all.slice(0, 1000).map(sessionRow));
    settle(focused);
  }

  function settle(focused) {
    const first = results.firstElementChild;
    if (first) first.tabIndex = 0;
    if (!focused) return;
    for (const item of results.children) if (item.dataset.id === focused) { item.tabIndex = 0; item.focus({ preventScroll: true }); }
  }

  const redraw = () => { drawing = drawing || requestAnimationFrame(draw); };

  function snippetOf(snippet) {
    const line = make('p', 'snippet');
    let at = 0;
    for (const [start, end] of snippet.marks) {
      line.append(snippet.text.slice(at, start), make('mark', '', snippet.text.slice(start, end)));
      at = end;
    }
    line.append(snippet.text.slice(at));
    return line;
  }

  async function search() {
    const words = query.value.trim(), turn = ++asked;
    if (words === '') { draw(); return; }
    try {
      const page = await ask('GET', '/api/search?limit=50&q=' + encodeURIComponent(words));
      if (turn !== asked) return;
      const more = page.total.exact ? '' : 'more than ';
      summary.textContent = [more + page.total.count.toLocaleString() + (page.total.count === 1 ? ' place' : ' places'), ...page.notes,
        ...(page.index === 'building' ? ['the index is still being built'] : [])].join(' · ');
      results.replaceChildren(...page.hits.map((hit) => {
        const item = row(hit.session.id, titleOf(hit.session), hit.entry.at, hit.session.workdir, ['', hit.tool || hit.entry.kind]);
        item.append(snippetOf(hit.snippet));
        return item;
      }));
      settle();
    } catch (error) {
      if (turn === asked && token) { summary.textContent = error.message + (error.hint ? ' · ' + error.hint : ''); results.replaceChildren(); }
    }
  }

  function take(event) {
    if (event.kind === 'session.changed') sessions.set(event.session.id, event.session);
    if (event.kind === 'session.removed') sessions.delete(event.id);
    if (event.kind === 'reset') sessions.clear();
    if (event.kind === 'caught-up') loaded = true;
    redraw();
  }

  async function listen() {
    if (!token) return;
    try {
      const { ticket } = await ask('POST', '/api/tickets');
      socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/api/live', ['throughline.v1', 'throughline.' + ticket]);
    } catch { again(); return; }
    socket.onopen = () => {
      pause = 250;
      status.textContent = 'live';
      status.className = 'on';
      socket.send(JSON.stringify({ kind: 'subscribe', subscription: 1, topic: { kind: 'sessions' } }));
    };
    socket.onmessage = ({ data }) => {
      for (const frame of JSON.parse(data)) if (frame.kind === 'event') take(frame.event);
    };
    socket.onclose = ({ code }) => {
      status.className = '';
      if (code === 4401) { forget(); return; }
      if (token) status.textContent = 'not connected';
      again();
    };
  }

  function again() {
    if (!token) return;
    setTimeout(listen, pause * (0.5 + Math.random() / 2));
    pause = Math.min(pause * 2, 15000);
  }

  async function start() {
    const code = new URLSearchParams(location.hash.slice(1)).get('code');
    if (code) {
      history.replaceState(null, '', location.pathname);
      try {
        token = (await ask('POST', '/api/login', { code, label: navigator.userAgent.slice(0, 100) })).token;
        localStorage.setItem(KEY, token);
      } catch {
        if (!token) { explain('That link was used already, or is too old', 'It works once, for a minute. Ask for a new one.', 'throughline open'); return; }
      }
    }
    if (!token) { forget(); return; }
    $('search').hidden = false;
    try {
      for (const session of (await ask('GET', '/api/sessions')).sessions) sessions.set(session.id, session);
      loaded = true;
      draw();
    } catch (error) {
      if (token) summary.textContent = error.message;
    }
    listen();
    setInterval(redraw, 60000);
  }

  addEventListener('hashchange', () => { if (location.hash.startsWith('#code=')) location.reload(); });
  let typing;
  query.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(search, 60); });
  addEventListener('keydown', (event) => {
    const inList = results.contains(document.activeElement);
    if (event.key === '/' && document.activeElement !== query) { event.preventDefault(); query.focus(); }
    if (event.key === 'Escape') { query.value = ''; search(); query.focus(); }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const down = event.key === 'ArrowDown';
    const next = inList ? (down ? document.activeElement.nextElementSibling : document.activeElement.previousElementSibling || query)
      : down ? results.firstElementChild : null;
    if (next) { event.preventDefault(); next.focus(); }
  });
  start();
})();
`
