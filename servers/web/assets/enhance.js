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

// Completes the query as the user types: a combobox with a list (WAI-ARIA 1.2). Without this script it is a field.
const completions = document.getElementById('completions');
if (query instanceof HTMLInputElement && completions !== null) {
  const list = document.createElement('ul');
  list.id = 'completions-list';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  const status = document.createElement('p');
  status.className = 'aside';
  status.setAttribute('role', 'status');
  completions.append(list, status);
  query.setAttribute('role', 'combobox');
  query.setAttribute('aria-autocomplete', 'list');
  query.setAttribute('aria-haspopup', 'listbox');
  query.setAttribute('aria-controls', list.id);
  query.setAttribute('aria-expanded', 'false');

  /** What the user typed, which Escape and the ends of the list bring back. */
  let typed = query.value;
  let chosen = -1;
  let asked;
  let timer;

  const hide = () => {
    list.hidden = true;
    choose(-1);
    query.setAttribute('aria-expanded', 'false');
    status.textContent = '';
  };

  /** Marks an option; -1 marks none. */
  const choose = (index) => {
    chosen = index;
    for (const [i, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(i === index));
    const option = list.children[index];
    if (option === undefined) query.removeAttribute('aria-activedescendant');
    else {
      query.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    }
  };

  const show = (texts) => {
    list.replaceChildren(
      ...texts.map((text, i) => {
        const option = document.createElement('li');
        option.id = `completion-${i}`;
        option.setAttribute('role', 'option');
        option.textContent = text;
        return option;
      }),
    );
    list.hidden = texts.length === 0;
    choose(-1);
    query.setAttribute('aria-expanded', String(!list.hidden));
    status.textContent = list.hidden
      ? ''
      : `${texts.length} ${texts.length === 1 ? 'suggestion' : 'suggestions'}`;
  };

  const ask = async () => {
    const request = new AbortController();
    asked = request;
    const source = `${completions.dataset.source}?${new URLSearchParams({ query: typed })}`;
    try {
      const reply = await fetch(source, { signal: request.signal });
      const texts = reply.ok ? (await reply.json())[1] : [];
      // An answer may come after the user has gone on.
      if (!request.signal.aborted && document.activeElement === query) show(texts);
    } catch {
      // The user has typed on, or the server is away: the search works without.
    }
  };

  /** Forgets a question that is not answered yet, so that no list appears later. */
  const cancel = () => {
    clearTimeout(timer);
    asked?.abort();
  };

  query.addEventListener('input', () => {
    typed = query.value;
    cancel();
    if (typed.trim() === '') hide();
    else timer = setTimeout(ask, 120);
  });

  query.addEventListener('keydown', (event) => {
    // Keys of an input method choose among its own candidates.
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (event.altKey) {
        event.preventDefault();
        if (key === 'ArrowUp') hide();
        else if (list.children.length > 0) show([...list.children].map((option) => option.textContent));
        return;
      }
      if (list.hidden) {
        if (key === 'ArrowDown' && query.value.trim() !== '') {
          event.preventDefault();
          cancel();
          void ask();
        }
        return;
      }
      event.preventDefault();
      const count = list.children.length;
      // The field itself is one place of the circle.
      choose(((chosen + 1 + (key === 'ArrowDown' ? 1 : count)) % (count + 1)) - 1);
      query.value = list.children[chosen]?.textContent ?? typed;
    } else if (key === 'Escape' && !list.hidden) {
      event.preventDefault();
      query.value = typed;
      cancel();
      hide();
    } else if (key === 'Enter' || key === 'Tab') {
      // Enter sends the form with the marked text, which the field has already.
      cancel();
      hide();
    }
  });

  query.addEventListener('blur', () => {
    cancel();
    hide();
  });

  // The field keeps the focus while the mouse is used.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const option = event.target.closest('[role=option]');
    if (option === null) return;
    query.value = option.textContent;
    cancel();
    hide();
    query.form?.requestSubmit();
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
