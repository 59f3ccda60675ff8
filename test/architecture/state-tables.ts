// The tables of states in the specifications, made from the tables on which the code runs.
import * as broker from '../../protocols/broker/states.js';
import * as bulk from '../../protocols/bulk/states.js';
import * as gatherd from '../../protocols/gatherd/states.js';
import * as registry from '../../protocols/registry/states.js';
import * as soif from '../../protocols/soif/states.js';
import * as sstp from '../../protocols/sstp/states.js';
import type { StateTable, Transition } from '../../protocols/state-machine.js';
import { OBJECT_STATES } from '../protocols/soif/object-states.js';

/** The table of each block `<!-- states:NAME -->`, by the document. */
const TABLES: Readonly<Record<string, Readonly<Record<string, StateTable<string, string>>>>> = {
  'protocols/soif/specification.md': {
    'soif-stream': soif.STREAM_STATES,
    'soif-object': OBJECT_STATES,
  },
  'protocols/gatherd/specification.md': { server: gatherd.SERVER_STATES, client: gatherd.CLIENT_STATES },
  'protocols/broker/specification.md': {
    'broker-server': broker.SERVER_STATES,
    'broker-client': broker.CLIENT_STATES,
    'broker-result-decoder': broker.DECODER_STATES,
  },
  'protocols/bulk/specification.md': {
    groups: bulk.GROUP_STATES,
    shipped: bulk.SHIPPED_STATES,
    proposed: bulk.PROPOSED_STATES,
  },
  'protocols/registry/specification.md': {
    registry: registry.DECODER_STATES,
    'registry-record': registry.RECORD_STATES,
  },
  'protocols/sstp/specification.md': {
    'sstp-choice': sstp.CHOICE_STATES,
    'sstp-server': sstp.SERVER_STATES,
    'sstp-client': sstp.CLIENT_STATES,
  },
};

/** Blocks of which no table of the code exists, with the reason. */
export const WRITTEN_BY_HAND: Readonly<Record<string, string>> = {
  queue:
    'the transitions of Heritrix (CRAWL-5.4); frontier/life-cycle.ts and its conformance tests name each',
};

const BLOCK = /^<!-- states:([\w-]+) -->\n((?:.*\n)*?)<!-- \/states -->$/gm;

/** The names of the blocks of a document. */
export function blocksOf(markdown: string): string[] {
  return [...markdown.matchAll(BLOCK)].map(([, name = '']) => name);
}

/** The documents that have tables of the code. */
export function documentsWithTables(): string[] {
  return Object.keys(TABLES);
}

/** The names of the tables that belong into a document. */
export function tablesOf(document: string): string[] {
  return Object.keys(TABLES[document] ?? {});
}

/** The document with the tables of the code in its blocks. */
export function withTables(document: string, markdown: string): string {
  return markdown.replace(BLOCK, (block, name: string) => {
    const table = TABLES[document]?.[name];
    return table === undefined ? block : `<!-- states:${name} -->\n${renderTable(table)}<!-- /states -->`;
  });
}

interface Row {
  readonly states: string[];
  readonly inputs: string[];
  readonly output: string;
  /** Undefined: the state itself, of each of several states. */
  next: string | undefined;
}

/**
 * A table as Markdown. Inputs that are codes share a row if they have the same effect in a state, and states do
 * if they have the same row, which stands with the last of them; one that all states have comes last.
 */
export function renderTable(table: StateTable<string, string>): string {
  const rows: Row[] = [];
  for (const [state, row] of Object.entries(table))
    for (const one of rowsOf(state, row)) {
      const at = rows.findIndex((other) => mayShare(other, one));
      const [shared = one] = at < 0 ? [] : rows.splice(at, 1);
      if (shared !== one) shared.states.push(state);
      if (shared.next !== one.next) shared.next = undefined;
      rows.push(shared);
    }
  const open = Object.values(table).filter((row) => Object.keys(row).length > 0).length;
  const isAny = ({ states }: Row) => states.length === open && open > 1;
  const ordered = [...rows.filter((row) => !isAny(row)), ...rows.filter(isAny)];
  const hasOutput = rows.some(({ output }) => output !== '');
  const cells = ordered.map((row) => [
    isAny(row) ? 'any' : row.states.join(', '),
    row.inputs.join(', '),
    ...(hasOutput ? [row.output] : []),
    row.next ?? 'the same',
  ]);
  const head = ['state', 'input', ...(hasOutput ? ['output'] : []), 'next state'];
  return [head, head.map(() => '---'), ...cells].map(line).join('');
}

function line(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' |' : ` ${cell} |`)).join('')}\n`;
}

const CODE = /^`[^`]*`$/;

/** The rows of one state. */
function rowsOf(state: string, transitions: Readonly<Partial<Record<string, Transition<string>>>>): Row[] {
  const rows: Row[] = [];
  for (const { input, output, next } of Object.values(transitions).filter((one) => one !== undefined)) {
    const same = rows.find(
      (row) =>
        row.output === output && row.next === next && [input, ...row.inputs].every((one) => CODE.test(one)),
    );
    if (same === undefined) rows.push({ states: [state], inputs: [input], output, next });
    else same.inputs.push(input);
  }
  return rows;
}

/** Whether a row of another state can name the state of `one`, too. */
function mayShare(row: Row, one: Row): boolean {
  if (row.output !== one.output || row.inputs.join() !== one.inputs.join()) return false;
  if (row.next === one.next) return true;
  const stays = row.next === undefined || (row.states.length === 1 && row.states[0] === row.next);
  return stays && one.states[0] === one.next;
}
