// Mutants of the lines of a Broker's replies: their form and their numbers.
import type { BrokerMutant } from './broker-builders.js';
import type { BrokerChange } from './broker-link.js';
import { FORM_DEFECTS, NUMBER_DEFECTS, withCode } from './lines.js';

/** One kind of line of the own Broker's replies. */
interface LineKind {
  readonly name: string;
  readonly code: string;
  readonly when?: (message: string) => boolean;
  /** The cases about the form of the line, and about its number. */
  readonly form: readonly string[];
  readonly number: readonly string[];
  /** Numbers that may stand there as well. */
  readonly free?: readonly string[];
  /** Whether another number makes the line another item, about which there are cases too. */
  readonly inResults?: boolean;
}

/** The cases about an item that does not belong where it is. */
const STRANGERS: Readonly<Record<string, readonly string[]>> = {
  '120': ['reply/ends-130'],
  '125': ['reply/object-url'],
  '126': ['reply/home-page'],
  '130': ['reply/inside'],
};

const isUser = (message: string) => /^\s*#user/i.test(message);
export const isAdmin = (message: string) => /^\s*#admin/i.test(message);
export const nothing = (message: string) => message.includes('zzyzxplugh') && isUser(message);

const KINDS: readonly LineKind[] = [
  { name: 'the line of a URL', code: '120', form: ['query/all'], number: ['query/all'] },
  {
    name: 'a matched line',
    code: '122',
    form: ['reply/form'],
    number: ['reply/codes'],
    free: ['101', '103'],
    inResults: true,
  },
  { name: 'the line before a description', code: '124', form: ['reply/form'], number: ['reply/form'] },
  { name: 'the line of a summary', code: '125', form: ['reply/form'], number: ['reply/object-url'] },
  { name: 'the line of the home page', code: '126', form: ['reply/form'], number: ['reply/home-page'] },
  { name: 'the line before an attribute', code: '127', form: ['reply/form'], number: ['reply/form'] },
  { name: 'the end of an object', code: '130', form: ['reply/form'], number: ['reply/ends-130'] },
  {
    name: 'the notice that nothing matched',
    code: '101',
    when: nothing,
    form: ['reply/messages-form'],
    number: ['reply/nothing-matched'],
  },
  {
    name: 'the notice about a flag',
    code: '101',
    when: (message) => /#index zzyzx/.test(message),
    form: ['reply/messages-form'],
    number: ['flags/unknown-index'],
  },
  {
    name: 'the refusal of a malformed message',
    code: '111',
    when: (message) => !isAdmin(message),
    form: ['reply/messages-form'],
    number: ['malformed/no-end', 'malformed/operands'],
  },
  {
    name: 'the refusal of a command',
    code: '111',
    when: isAdmin,
    form: ['admin/refusal-form'],
    number: ['admin/wrong-password', 'admin/unknown'],
  },
  {
    name: 'the answer to a command',
    code: '101',
    when: isAdmin,
    form: ['admin/answer-form'],
    number: ['admin/stats'],
    free: ['103'],
  },
];
const CODES = ['000', '101', '103', '111', '120', '122', '125', '126', '130', '150', '400', '999'];

/** Whether results can still be read with this defect in their lines. */
function isReadable({ code, form }: LineKind, defect: string): boolean {
  return code === '120'
    ? /CR|after the hyphen/.test(defect)
    : defect.includes('CR') && form[0] === 'reply/form';
}

/** Whether every result has such a line, so that words of the dump cannot be queried. */
function isInDump({ code, when }: LineKind): boolean {
  return when === undefined && code !== '122' && code !== '124' && code !== '127';
}

const firstLine = (text: string, edit: (line: string) => string) => {
  const end = text.indexOf('\n') + 1;
  return edit(text.slice(0, end)) + text.slice(end);
};

function onKind({ code, when }: LineKind, edit: (line: string) => string): BrokerChange {
  return {
    item: (item, _at, _items, message) =>
      item.code === code && (when?.(message) ?? true) ? firstLine(item.text, edit) : item.text,
  };
}

export const BROKER_LINE_MUTANTS = KINDS.flatMap((kind): BrokerMutant[] => [
  ...FORM_DEFECTS.map(({ name, edit }) => ({
    name: `${kind.name} ${name}`,
    rule: name.includes('CR') ? 'BRK-1.9' : 'BRK-4.1',
    change: onKind(kind, edit),
    // A URL is read in spite of a defect that leaves its number and hyphen readable.
    fails: isReadable(kind, name) ? [name.includes('CR') ? 'reply/lf-only' : 'reply/form'] : kind.form,
  })),
  ...NUMBER_DEFECTS.map(({ name, edit }) => ({
    name: `${kind.name} ${name}`,
    rule: 'BRK-4.1',
    change: onKind(kind, edit),
    fails: kind.form,
  })),
  ...CODES.filter((code) => code !== kind.code && kind.free?.includes(code) !== true).map((code) => ({
    name: `${kind.name} has the number ${code}`,
    rule: 'BRK-4.1',
    change: onKind(kind, (line) => withCode(line, code)),
    // A refusal makes the whole reply a failed query.
    fails:
      isInDump(kind) && code === '111'
        ? ['query/all']
        : ((kind.inResults === true ? STRANGERS[code] : undefined) ?? kind.number),
  })),
]);
