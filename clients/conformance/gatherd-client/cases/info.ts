// Cases about the answer to INFO (GATHERD-3.6).
import { check } from '../../case.js';
import type { ClientContext } from '../bench.js';
import { linesOf } from '../checks.js';
import type { Behavior, Step } from '../dialogue.js';
import { inSection, streamOf, wireObject } from '../objects.js';
import type { ClientCase } from './case-builders.js';

const DESCRIPTION = wireObject(
  '-',
  [
    ['Number-Of-Objects', '2'],
    ['Attributes', 'title\ndescription\n600 - no end\n'],
  ],
  'GATHERER',
);
const CONTENT = streamOf(inSection('update', [DESCRIPTION]));

async function checkDescription(behavior: Behavior, context: ClientContext): Promise<void> {
  const observation = await context.bench.observeInfo(behavior, context);
  check(linesOf(observation, 'INFO').length > 0, 'the command sends no INFO', {
    expected: 'INFO',
    received: 'none',
  });
  context.bench.compareOutput(observation, CONTENT);
  check(observation.status === 0, 'the client reports that it received no description', {
    expected: 'exit status 0',
    received: `exit status ${observation.status ?? 'none'}: ${observation.diagnostics.trim()}`,
  });
}

function infoCase(id: string, title: string, answer: readonly Step[]): ClientCase {
  return {
    id: `info/${id}`,
    title,
    rules: ['GATHERD-3.6', 'GATHERD-7.4'],
    source: 'beckett; inferred; project choice',
    level: 'MUST',
    run: (context) => checkDescription({ info: answer }, context),
  };
}

/** GATHERD-3.6: the forms of a server's answer to INFO. */
export const INFO_CASES: readonly ClientCase[] = [
  infoCase('600-after', 'reads the description when 600 follows it', [
    DESCRIPTION.bytes,
    '600 - End of INFO\n',
  ]),
  infoCase('600-before', 'reads the description when 600 precedes it', [
    '600 - INFO follows\n',
    DESCRIPTION.bytes,
  ]),
  infoCase('699', 'reads the description between 600 and 699', [
    '600 - INFO follows\n',
    DESCRIPTION.bytes,
    '699 - End of INFO\n',
  ]),
  infoCase('no-number', 'reads the description without any number', [DESCRIPTION.bytes]),
  infoCase('close', 'reads the description when the server closes after it', [DESCRIPTION.bytes, 'close']),
];
