// Lines of a reply that repeat what the client sent: they stay short, whatever it sent.
import t from 'tap';
import { corpus, exchange, openBroker, serveBroker, storeObject } from './helpers.js';

t.test('BRK-4.14: no line of a reply repeats more than a part of the message', async (t) => {
  const fixture = await openBroker(t);
  for (const { text } of corpus()) await storeObject(fixture.broker, text);
  await fixture.broker.keeper.settle();
  const server = await serveBroker(t, fixture, { shutdown: () => undefined, adminPatienceMs: 60_000 });
  const word = 'x'.repeat(20_000);
  const messages = [
    `#USER #index ${word} #END gopher`,
    `#USER #index maxresult ${word} #END gopher`,
    `#USER #index error ${word} #END gopher`,
    `#USER #${word} #END gopher`,
    `#USER #attribute ${word} #END nothing`,
    `#USER #interface ${word} #END gopher`,
    `#USER #desc "${word}" gopher`,
    `#USER #END ${word}`,
    `#USER #END ${word} : gopher`,
    `#USER #END (${word}`,
    `#USER #END gopher ) ${word}`,
    `#USER ${word}`,
    `#BULK ${word}`,
    `#BULK #since ${word} #END`,
    `#BULK #index ${word} #END gopher`,
    `#${word}`,
    word,
    ...[
      `#${word}`,
      `#set ${word} 1`,
      `#set Max-Results ${word}`,
      `#set "Max-Results" "${word}"`,
      `#set Broker-Name`,
      `#rem-object-oid ${word}`,
      `#rem-object-oid "${word}"`,
      `#rem-object-path ${word}`,
      `#rem-object-query ${word}`,
      `#rem-object-query #index ${word} #END ${word}`,
      `#add-object ${word}`,
      `#add-object "${word}"`,
      `#add-log ${word}`,
      `#rem-log ${word}`,
      `#open-log ${word}`,
      `#open-log "/none/${word}"`,
      `#collection ${word}`,
    ].map((command) => `#ADMIN #Password "open sesame" ${command}`),
    `#ADMIN #Password ${word} #statistics`,
    `#ADMIN ${word}`,
  ];
  for (const message of messages) {
    const reply = await exchange(server.address.port, `${message}\r\n`);
    t.match(reply, /\n(?:000|101|111|400) - /, 'the message is answered');
    const longest = Math.max(...reply.split('\n').map((line) => line.length));
    t.ok(longest <= 1100, `${message.slice(0, 70)}: ${longest}: ${reply.slice(25, 160)}`);
  }
});
