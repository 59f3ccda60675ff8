import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, lackingOf, type Survey, TRANSFER_MS } from './context.js';
import { formatTransfer, requireTransfer } from './transfer.js';

/** The form of a transfer: sections A2 and A3. */
export const transferCases: readonly BulkCase[] = [
  {
    id: 'greeting/first',
    title: 'the version line comes first, before a message is read',
    rules: ['BT-9'],
    source: 'RC; S',
    level: 'MUST',
    async run(context) {
      const line = await (await context.connect()).line();
      check(/^200 - [^\r]*broker[^\r]*$/i.test(line), 'not the first line of a Broker', {
        expected: '200 - HARVEST Broker <version>',
        received: printable(line),
      });
    },
  },
  transferCase(
    'transfer/everything',
    'a request in the form of deployed clients is answered with everything, uncompressed, and the connection is closed afterwards',
    ['BT-3', 'BT-12', 'BT-13', 'BT-14'],
    'RC; S; M1.4',
    'MUST',
    () => {},
  ),
  transferCase(
    'transfer/success-line',
    'exactly one line, 000 - text, precedes the data',
    ['BT-10'],
    'project choice',
    'SHOULD',
    ({ transfer }) => {
      const codes = transfer.lines.filter(({ code }) => code !== 200).map(({ code }) => code);
      check(codes.length === 1 && codes[0] === 0, 'other lines', {
        expected: '000 - ..., then @DELETE {',
        received: formatTransfer(transfer),
      });
    },
  ),
  transferCase(
    'transfer/line-form',
    'each line before the data is three digits, a blank, a hyphen, a blank and text, and ends in LF alone',
    ['BT-10', 'BRK-4.1', 'BRK-1.9'],
    'S',
    'MUST',
    ({ transfer: { lines } }) => {
      const malformed = lines.find((line) => line.malformed !== undefined)?.malformed;
      check(malformed === undefined, 'a line of another form', {
        expected: '000 - ...',
        received: printable(malformed ?? ''),
      });
    },
  ),
  transferCase(
    'transfer/no-end-line',
    'the close of the connection ends the data, no line 099 or 499 does',
    ['BT-11', 'BT-12'],
    'project choice',
    'SHOULD',
    ({ transfer: { endLine } }) =>
      check(endLine === undefined, 'an end line', {
        expected: 'no such line',
        received: printable(`${endLine?.code} - ${endLine?.text}`),
      }),
  ),
  transferCase(
    'groups/three',
    'the groups @DELETE, @REFRESH and @UPDATE come in this order, each once, even if empty',
    ['BT-15'],
    'M1.2',
    'MUST',
    ({ transfer: { sections } }) =>
      check(sections.join() === 'delete,refresh,update', 'other groups', {
        expected: 'delete, refresh, update',
        received: sections.join(', ') || 'none',
      }),
  ),
  transferCase(
    'groups/line-start',
    'each group header begins a line: deployed clients see it nowhere else',
    ['BT-17'],
    'RC',
    'MUST',
    ({ transfer: { withinLine } }) =>
      check(withinLine === undefined, 'a group header within a line', {
        expected: 'LF, then the header',
        received: withinLine ?? '',
      }),
  ),
  transferCase(
    'groups/layout',
    'groups and objects are written byte by byte as recommended',
    ['BT-17', 'BT-16'],
    'project choice',
    'SHOULD',
    ({ transfer: { misplaced } }) =>
      check(misplaced === undefined, 'another layout', {
        expected: '@DELETE {\\n}\\n\\n@REFRESH {\\n}\\n\\n@UPDATE {\\n...}\\n',
        received: misplaced ?? '',
      }),
  ),
  transferCase(
    'groups/members',
    'no object is outside of the groups',
    ['BT-14'],
    'S',
    'MUST',
    ({ transfer }) =>
      check(transfer.bySection.bare === 0, 'objects outside of the groups', {
        expected: 'every object in a group',
        received: `${transfer.bySection.bare} objects outside`,
      }),
  ),
  transferCase(
    'objects/soif',
    'the data consists of groups and well-formed objects with correct sizes, up to the last brace',
    ['BT-16', 'BT-18', 'BT-19'],
    'G',
    'MUST',
    ({ transfer: { malformed } }) =>
      check(malformed === undefined, 'malformed data', {
        expected: 'objects as SOIF-2.2 writes them',
        received: malformed ?? '',
      }),
  ),
  transferCase(
    'objects/no-empty',
    'empty attributes are not written',
    ['BT-16'],
    'G',
    'SHOULD',
    ({ empty }) =>
      check(empty === undefined, 'an attribute of no bytes', { expected: 'none', received: empty ?? '' }),
  ),
  transferCase(
    'objects/mandatory',
    'every object has the mandatory attributes; receivers drop objects without them',
    ['BT-24', 'BT-21', 'BT-23'],
    'S',
    'MUST',
    ({ lacking }) =>
      check(lacking === undefined, 'a mandatory attribute is missing', {
        expected: 'Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
        received: lacking ?? '',
      }),
  ),
  transferCase(
    'objects/once',
    'no object comes twice in a transfer of everything',
    ['BT-15', 'BT-26'],
    'inferred',
    'SHOULD',
    ({ twice }) =>
      check(twice === undefined, 'an object comes twice', { expected: 'each once', received: twice ?? '' }),
  ),
  identifiedCase('delete'),
  identifiedCase('refresh'),
];

/** Builds a case about the transfer of everything. */
function transferCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  verify: (survey: Survey) => void,
): BulkCase {
  const run = async (context: BulkContext) => verify(await context.survey());
  return { id, title, rules, source, level, timeoutMs: TRANSFER_MS, run };
}

/** Builds a case about one of the other two groups, which have objects only in a transfer since a time in the past. */
function identifiedCase(group: 'delete' | 'refresh'): BulkCase {
  const name = `@${group.toUpperCase()}`;
  return {
    id: `objects/${group}-identified`,
    title: `objects in ${name} carry what identifies them, and Update-Time`,
    rules: ['BT-21'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { times } = await context.survey();
      const since = Math.max(1, Math.min(...times.values()) - 1);
      const message = `#BULK #SINCE ${Number.isFinite(since) ? since : 1} #END #ALLB`;
      let lacking: string | undefined;
      const answer = await context.ask(message, (item) => {
        if (item.section === group) lacking ??= lackingOf(item);
      });
      const { bySection } = requireTransfer(answer, message);
      if (bySection[group] === 0) throw new NotApplicable(`the broker has nothing for ${name}`);
      check(lacking === undefined, `an object in ${name} cannot be identified`, {
        expected: 'Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
        received: lacking ?? '',
      });
    },
  };
}
