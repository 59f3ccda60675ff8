// Cases about the robustness of a Broker's port.
import { check, must } from '../case.js';
import { checkNotRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, PLAIN_FLAGS } from './context.js';
import { surveyed } from './procedures.js';
import { readReply, textsOf } from './reply.js';
import { pickWord } from './survey.js';

/** Number of concurrent clients. */
const TOGETHER = 30;

/** Robustness of a public port. */
export const enduranceCases: readonly BrokerCase[] = [
  must('endurance/together', 'BRK-4.18 BRK-1.6', 'project choice', {
    title: `${TOGETHER} concurrent clients get the same answer, or the notice that the Broker is busy`,
    ...surveyed(async (survey, context) => {
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
    }),
  }),
  must('endurance/silent-client', 'BRK-1.8', 'project choice', {
    title: 'clients that connect and send nothing, or half a message, do not delay other clients',
    async run(context) {
      await context.session(false);
      await (await context.session(false)).send('#USER #END "zzy');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  }),
  must('endurance/client-leaves', 'BRK-1.6', 'project choice', {
    title: 'a client that leaves before, within or after its message does not harm others',
    async run(context) {
      for (const bytes of ['', '#USER #END ', '#USER #desc #END #allb\r\n']) {
        const wire = await context.session(false);
        if (bytes !== '') await wire.send(bytes);
        wire.reset();
      }
      (await context.connect(false)).reset();
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  }),
  must('endurance/does-not-read', 'BRK-1.5', 'project choice', {
    title: 'a client that requests everything and does not read does not delay other clients',
    async run(context) {
      await (await context.session(false)).send('#USER #desc #END #allb\r\n');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  }),
];
