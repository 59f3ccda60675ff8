// Makes the pages quicker to use. They also work without this script.

const query = document.getElementById('query');

/** Whether the user is typing into a field. */
function isTyping(target) {
  return target instanceof Element && target.closest('input, select, textarea, [contenteditable]') !== null;
}

/** Moves the focus to the next or previous result. */
function moveFocus(step) {
  const links = [...document.querySelectorAll('.results h2 a')];
  if (links.length === 0) return;
  const current = document.activeElement?.closest('.results > li')?.querySelector('h2 a') ?? null;
  const index = current === null ? (step > 0 ? 0 : links.length - 1) : links.indexOf(current) + step;
  links[Math.min(links.length - 1, Math.max(0, index))]?.focus();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  if (event.key === '/' && query !== null) {
    event.preventDefault();
    query.focus();
    query.select();
  } else if (event.key === 'j') {
    moveFocus(1);
  } else if (event.key === 'k') {
    moveFocus(-1);
  }
});

// Completes the last word of the query as the user types.
const completions = document.getElementById('completions');
if (query instanceof HTMLInputElement && completions !== null) {
  let asked;
  let timer;
  const show = (texts) => {
    completions.replaceChildren(
      ...texts.map((text) => {
        const option = document.createElement('option');
        option.value = text;
        return option;
      }),
    );
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const source = `${completions.dataset.source}?${new URLSearchParams({ query: query.value })}`;
    try {
      const reply = await fetch(source, { signal: asked.signal });
      if (reply.ok) show((await reply.json())[1]);
    } catch {
      // The user has typed on, or the server is away: the search works without.
    }
  };
  query.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
}

// Selects the character at which the query cannot be read. The field has the focus already.
const fault = document.querySelector('[data-fault]');
if (fault !== null && query !== null) {
  const position = Number(fault.getAttribute('data-fault'));
  query.setSelectionRange(position, position + 1);
}

// Leaves empty fields out of the URL of an advanced search.
document.querySelector('form.advanced')?.addEventListener('formdata', (event) => {
  for (const name of [...event.formData.keys()]) {
    const row = /^(?:attribute|is)(\d)$/.exec(name)?.[1];
    const value = event.formData.get(row === undefined ? name : `value${row}`);
    if (value === '') event.formData.delete(name);
  }
});

// Shows which parameters the chosen command needs, and asks for confirmation before a destructive one.
const command = document.getElementById('command');
const parameters = document.getElementById('parameters');
if (command instanceof HTMLSelectElement && parameters !== null) {
  const show = () => {
    const needed = command.selectedOptions[0]?.dataset.parameter;
    parameters.disabled = needed === undefined;
    parameters.placeholder = needed ?? 'none needed';
  };
  command.addEventListener('change', show);
  show();
  command.form?.addEventListener('submit', (event) => {
    const chosen = command.selectedOptions[0];
    if (chosen?.dataset.destructive !== undefined && !window.confirm(`${chosen.textContent?.trim()}?`)) {
      event.preventDefault();
    }
  });
}

// Keeps the progress of a run that gathers up to date.
const gathering = document.getElementById('gathering');
if (gathering !== null) {
  const timer = setInterval(async () => {
    try {
      const reply = await fetch(gathering.dataset.source);
      if (!reply.ok) return;
      const state = (await reply.json()).gathering;
      if (state !== undefined) {
        gathering.firstElementChild.textContent = state.text;
        return;
      }
      clearInterval(timer);
      gathering.textContent = 'Gathering is complete: search again to find everything.';
    } catch {
      // The server is away: the next look may find it.
    }
  }, 2000);
}
