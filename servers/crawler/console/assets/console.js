// Keeps the page up to date and performs actions without loading it again. The page also works without this script.

const live = document.getElementById('live');
const outcome = document.getElementById('outcome');

/** Milliseconds between updates for users who prefer reduced motion. */
const REDUCED_MS = 5000;
const reduced = window.matchMedia('(prefers-reduced-motion: reduce)');

const shown = new Map();
let pending = {};
let shownAt = 0;

/** Replaces the sections of the page that changed. */
function show(sections, now) {
  pending = { ...pending, ...sections };
  if (reduced.matches && now - shownAt < REDUCED_MS) return;
  shownAt = now;
  for (const [name, html] of Object.entries(pending)) {
    const element = document.querySelector(`[data-part="${name}"]`);
    if (element === null || shown.get(name) === html || isSelected(element)) continue;
    shown.set(name, html);
    const { scrollLeft, scrollTop } = element;
    element.innerHTML = html;
    element.scrollTo({ left: scrollLeft, top: scrollTop, behavior: 'instant' });
  }
  pending = {};
}

/** Whether text in the element is selected, perhaps to be copied. */
function isSelected(element) {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/** Enables the buttons that the crawl's state allows. A button with the focus keeps it: it is only marked as disabled. */
function updateButtons(state) {
  for (const button of document.querySelectorAll('[data-states]')) {
    const isAllowed = button.dataset.states.split(' ').includes(state);
    if (document.activeElement === button) button.setAttribute('aria-disabled', String(!isAllowed));
    else {
      button.disabled = !isAllowed;
      button.removeAttribute('aria-disabled');
    }
  }
}

/** Shows the outcome of an action. */
function showOutcome(ok, text) {
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
  stream.addEventListener('snapshot', (event) => updateButtons(JSON.parse(event.data).state));
  stream.addEventListener('open', () => document.body.classList.remove('away'));
  stream.addEventListener('error', () => {
    if (document.body.classList.contains('away')) return;
    document.body.classList.add('away');
    showOutcome(
      false,
      'The console does not answer: the crawl ended, or you were logged out. The page shows the last figures that were received.',
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
    showOutcome(true, 'Sending …');
    try {
      const reply = await fetch(form.action, {
        method: 'POST',
        headers: { 'x-requested-by': 'console' },
        body: new URLSearchParams(new FormData(form)),
      });
      const { ok, text, error } = await reply.json();
      showOutcome(ok, text ?? error);
      form.closest('details.stop')?.removeAttribute('open');
    } catch {
      showOutcome(false, 'The console does not answer.');
    }
  });
}
