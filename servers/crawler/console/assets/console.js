// Keeps the page up to date and acts without loading it anew; everything works without it.

const live = document.getElementById('live');
const outcome = document.getElementById('outcome');

/** Who asked their system for less motion gets a change of the page every five seconds. */
const reduced = window.matchMedia('(prefers-reduced-motion: reduce)');
const REDUCED_MS = 5000;

const shown = new Map();
let waiting = {};
let shownAt = 0;

/** Changes the pieces of the page that are new. */
function show(parts, now) {
  waiting = { ...waiting, ...parts };
  if (reduced.matches && now - shownAt < REDUCED_MS) return;
  shownAt = now;
  for (const [name, html] of Object.entries(waiting)) {
    const place = document.querySelector(`[data-part="${name}"]`);
    if (place === null || shown.get(name) === html || isSelected(place)) continue;
    shown.set(name, html);
    const { scrollLeft, scrollTop } = place;
    place.innerHTML = html;
    place.scrollTo({ left: scrollLeft, top: scrollTop, behavior: 'instant' });
  }
  waiting = {};
}

/** Whether somebody has marked text there, to copy it. */
function isSelected(place) {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(place, true);
}

/** Offers what the crawl's state allows. A button that has the focus keeps it, so it only says that it does nothing. */
function offer(state) {
  for (const button of document.querySelectorAll('[data-states]')) {
    const isOffered = button.dataset.states.split(' ').includes(state);
    if (document.activeElement === button) button.setAttribute('aria-disabled', String(!isOffered));
    else {
      button.disabled = !isOffered;
      button.removeAttribute('aria-disabled');
    }
  }
}

function say(ok, text) {
  outcome.hidden = false;
  outcome.className = ok ? 'note' : 'error';
  outcome.textContent = text;
}

let stream;

function follow() {
  const address = new URL('/events', location.href);
  address.search = location.search;
  address.searchParams.set('parts', 'yes');
  stream = new EventSource(address);
  stream.addEventListener('parts', (event) => show(JSON.parse(event.data), performance.now()));
  stream.addEventListener('snapshot', (event) => offer(JSON.parse(event.data).state));
  stream.addEventListener('open', () => document.body.classList.remove('away'));
  stream.addEventListener('error', () => {
    if (document.body.classList.contains('away')) return;
    document.body.classList.add('away');
    say(
      false,
      'The console does not answer: the crawl ended, or you were logged out. The figures are those of the last moment.',
    );
  });
}

if (live !== null) {
  live.hidden = false;
  live.addEventListener('click', () => {
    const isLive = live.getAttribute('aria-pressed') !== 'true';
    live.setAttribute('aria-pressed', String(isLive));
    if (isLive) follow();
    else stream.close();
  });
  follow();
}

for (const form of document.querySelectorAll('form[data-act]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.querySelector('button').getAttribute('aria-disabled') === 'true') return;
    say(true, 'Under way …');
    try {
      const reply = await fetch(form.action, {
        method: 'POST',
        headers: { 'x-requested-by': 'console' },
        body: new URLSearchParams(new FormData(form)),
      });
      const { ok, text, error } = await reply.json();
      say(ok, text ?? error);
      form.closest('details.stop')?.removeAttribute('open');
    } catch {
      say(false, 'The console does not answer.');
    }
  });
}
