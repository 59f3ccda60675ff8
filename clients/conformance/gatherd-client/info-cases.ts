// Cases about the answer to INFO (GATHERD-3.6).
import { check, must } from '../case.js';
import type { ClientContext } from './bench.js';
import { linesOf } from './checks.js';
import type { Step } from './dialogue.js';
import { inSection, streamOf, wireObject } from './objects.js';
import type { ClientCase } from './procedures.js';

const DESCRIPTION = wireObject(
  '-',
  [
    ['Number-Of-Objects', '2'],
    ['Attributes', 'title\ndescription\n600 - no end\n'],
  ],
  'GATHERER',
);
const CONTENT = streamOf(inSection('update', [DESCRIPTION]));

const START = '600 - INFO follows\n';

/** The forms of a server's answer. */
const ANSWERS: readonly (readonly [name: string, when: string, info: readonly Step[]])[] = [
  ['600-after', 'when 600 follows it', [DESCRIPTION.bytes, '600 - End of INFO\n']],
  ['600-before', 'when 600 precedes it', [START, DESCRIPTION.bytes]],
  ['699', 'between 600 and 699', [START, DESCRIPTION.bytes, '699 - End of INFO\n']],
  ['no-number', 'without any number', [DESCRIPTION.bytes]],
  ['close', 'when the server closes after it', [DESCRIPTION.bytes, 'close']],
];

/** GATHERD-3.6: INFO. */
export const INFO_CASES: readonly ClientCase[] = ANSWERS.map(([name, when, info]) =>
  must(`info/${name}`, 'GATHERD-3.6 GATHERD-7.4', 'beckett; inferred; project choice', {
    title: `reads the description ${when}`,
    async run(context: ClientContext) {
      const observation = await context.bench.observeInfo({ info }, context);
      check(linesOf(observation, 'INFO').length > 0, 'the command sends no INFO', {
        expected: 'INFO',
        received: 'none',
      });
      context.bench.compareOutput(observation, CONTENT);
      check(observation.status === 0, 'the client reports that it received no description', {
        expected: 'exit status 0',
        received: `exit status ${observation.status ?? 'none'}: ${observation.diagnostics.trim()}`,
      });
    },
  }),
);
