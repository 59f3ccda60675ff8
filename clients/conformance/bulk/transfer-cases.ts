import { check, checkEqual, checkMatches, checkNone, must, NotApplicable, should } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, surveyed } from './context.js';
import { lackingOf } from './survey.js';
import { formatTransfer, requireTransfer } from './transfer.js';

/** The form of a transfer: sections A2 and A3. */
export const transferCases: readonly BulkCase[] = [
  must('greeting/first', 'BT-9', 'RC; S')
    .title('the version line comes first, before a message is read')
    .run(async (context) => {
      const line = await (await context.connect()).line();
      checkMatches(
        line,
        /^200 - [^\r]*broker[^\r]*$/i,
        'not the first line of a Broker',
        '200 - HARVEST Broker <version>',
      );
    }),
  must('transfer/everything', 'BT-3 BT-12 BT-13 BT-14', 'RC; S; M1.4')
    .title(
      'a request in the form of deployed clients is answered with everything, uncompressed, and the connection is closed afterwards',
    )
    .does(surveyed, () => {}),
  should('transfer/success-line', 'BT-10', 'project choice')
    .title('exactly one line, 000 - text, precedes the data')
    .does(surveyed, ({ transfer }) => {
      const codes = transfer.lines.filter(({ code }) => code !== 200).map(({ code }) => code);
      check(codes.length === 1 && codes[0] === 0, 'other lines', {
        expected: '000 - ..., then @DELETE {',
        received: formatTransfer(transfer),
      });
    }),
  must('transfer/line-form', 'BT-10 BRK-4.1 BRK-1.9', 'S')
    .title(
      'each line before the data is three digits, a blank, a hyphen, a blank and text, and ends in LF alone',
    )
    .does(surveyed, ({ transfer: { lines } }) => {
      const malformed = lines.find((line) => line.malformed !== undefined)?.malformed;
      checkNone(malformed, 'a line of another form', '000 - ...', printable);
    }),
  should('transfer/no-end-line', 'BT-11 BT-12', 'project choice')
    .title('the close of the connection ends the data, no line 099 or 499 does')
    .does(surveyed, ({ transfer: { endLine } }) =>
      check(endLine === undefined, 'an end line', {
        expected: 'no such line',
        received: printable(`${endLine?.code} - ${endLine?.text}`),
      }),
    ),
  must('groups/three', 'BT-15', 'M1.2')
    .title('the groups @DELETE, @REFRESH and @UPDATE come in this order, each once, even if empty')
    .does(surveyed, ({ transfer: { sections } }) =>
      checkEqual(sections.join(', ') || 'none', 'delete, refresh, update', 'other groups'),
    ),
  must('groups/line-start', 'BT-15 BT-17', 'RC')
    .title('each group header begins a line: deployed clients see it nowhere else')
    .does(surveyed, ({ transfer: { withinLine } }) =>
      checkNone(withinLine, 'a group header within a line', 'LF, then the header'),
    ),
  should('groups/layout', 'BT-17 BT-16', 'project choice')
    .title('groups and objects are written byte by byte as recommended')
    .does(surveyed, ({ transfer: { misplaced } }) =>
      checkNone(misplaced, 'another layout', '@DELETE {\\n}\\n\\n@REFRESH {\\n}\\n\\n@UPDATE {\\n...}\\n'),
    ),
  must('groups/members', 'BT-14', 'S')
    .title('no object is outside of the groups')
    .does(surveyed, ({ transfer }) =>
      check(transfer.bySection.bare === 0, 'objects outside of the groups', {
        expected: 'every object in a group',
        received: `${transfer.bySection.bare} objects outside`,
      }),
    ),
  must('objects/soif', 'BT-16 BT-18 BT-19', 'G')
    .title('the data consists of groups and well-formed objects with correct sizes, up to the last brace')
    .does(surveyed, ({ transfer: { malformed } }) =>
      checkNone(malformed, 'malformed data', 'objects as SOIF-2.2 writes them'),
    ),
  must('objects/no-empty', 'BT-16', 'G')
    .title('empty attributes are not written')
    .does(surveyed, ({ empty }) => checkNone(empty, 'an attribute of no bytes', 'none')),
  must('objects/mandatory', 'BT-24 BT-21 BT-23', 'S')
    .title('every object has the mandatory attributes; receivers drop objects without them')
    .does(surveyed, ({ lacking }) =>
      checkNone(
        lacking,
        'a mandatory attribute is missing',
        'Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
      ),
    ),
  should('objects/once', 'BT-15 BT-26', 'inferred')
    .title('no object comes twice in a transfer of everything')
    .does(surveyed, ({ twice }) => checkNone(twice, 'an object comes twice', 'each once')),
  identifiedCase('delete'),
  identifiedCase('refresh'),
];

/**
 * Returns a case about one of the other two groups, which have objects only in a transfer since a time in the
 * past.
 */
function identifiedCase(group: 'delete' | 'refresh'): BulkCase {
  const name = `@${group.toUpperCase()}`;
  return should(`objects/${group}-identified`, 'BT-21', 'project choice')
    .title(`objects in ${name} carry what identifies them, and Update-Time`)
    .does(surveyed, async ({ times }, context) => {
      const since = Math.max(1, Math.min(...times.values()) - 1);
      const message = `#BULK #SINCE ${Number.isFinite(since) ? since : 1} #END #ALLB`;
      let lacking: string | undefined;
      const answer = await context.ask(message, (item) => {
        if (item.section === group) lacking ??= lackingOf(item);
      });
      const { bySection } = requireTransfer(answer, message);
      if (bySection[group] === 0) throw new NotApplicable(`the broker has nothing for ${name}`);
      checkNone(
        lacking,
        `an object in ${name} cannot be identified`,
        'Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
      );
    });
}
