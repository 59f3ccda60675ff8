// Cases about the robustness of a Broker's port.
import { check } from '../case.js';
import { checkNotRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, PLAIN_FLAGS } from './context.js';
import { readReply, textsOf } from './reply.js';
import { pickWord, SURVEY_MS } from './survey.js';

/** Number of concurrent clients. */
const TOGETHER = 30;

/** Robustness of a public port. */
export const enduranceCases: readonly BrokerCase[] = [
  {
    id: 'endurance/together',
    title: `${TOGETHER} concurrent clients get the same answer, or the notice that the Broker is busy`,
    rules: ['BRK-4.18', 'BRK-1.6'],
    source: 'project choice',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const survey = await context.survey();
      const word = pickWord(survey);
      const replies = await Promise.all(
        Array.from({ length: TOGETHER }, async () => {
          const wire = await context.session(false);
          await wire.send(`#USER ${PLAIN_FLAGS} #END ${word.text}\r\n`);
          return readReply(wire);
        }),
      );
      const answered = replies.filter((reply) => textsOf(reply, 111).length === 0);
      check(answered.length > 0, 'no client was answered', {
        expected: 'an answer for some clients',
        received: textsOf(replies[0] ?? { items: [] }, 111)[0] ?? 'nothing',
      });
      for (const reply of answered) checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
    },
  },
  {
    id: 'endurance/silent-client',
    title: 'clients that connect and send nothing, or half a message, do not delay other clients',
    rules: ['BRK-1.8'],
    source: 'project choice',
    level: 'MUST',
    async run(context) {
      await context.session(false);
      await (await context.session(false)).send('#USER #END "zzy');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  },
  {
    id: 'endurance/client-leaves',
    title: 'a client that leaves before, within or after its message does not harm others',
    rules: ['BRK-1.6'],
    source: 'project choice',
    level: 'MUST',
    async run(context) {
      for (const bytes of ['', '#USER #END ', '#USER #desc #END #allb\r\n']) {
        const wire = await context.session(false);
        if (bytes !== '') await wire.send(bytes);
        wire.reset();
      }
      (await context.connect(false)).reset();
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  },
  {
    id: 'endurance/does-not-read',
    title: 'a client that requests everything and does not read does not delay other clients',
    rules: ['BRK-1.5'],
    source: 'project choice',
    level: 'MUST',
    async run(context) {
      await (await context.session(false)).send('#USER #desc #END #allb\r\n');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  },
];
