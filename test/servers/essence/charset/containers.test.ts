// A Russian text in twelve encodings and eight containers, none of which declares the character set.
import t from 'tap';
import { contentOf, summarize } from '../helpers.js';
import { containersOf, ENCODINGS } from './containers.js';

const CONTENT = {
  name: 'Отчёт о сборке',
  title: 'Сборщик документов',
  text:
    'Сборщик обходит серверы, читает документы и составляет их описания.\n' +
    'Брокер хранит описания и отвечает на вопросы пользователей сети.\n',
};

const words = (value: string | undefined) => (value ?? '').replace(/\s+/g, ' ').trim();
const EXPECTED = words(CONTENT.text);

for (const encoding of ENCODINGS) {
  t.test(`E-77 ${encoding.name} in eight containers without a declaration`, async (t) => {
    for (const [file, body] of containersOf(CONTENT, encoding)) {
      const all = contentOf(await summarize(`ftp://a.test/${file}`, body, { fullText: true }));
      if (/html|tex|eml|news/.test(file))
        t.equal(words(all.title ?? all.Title), CONTENT.title, `title, ${file}`);
      if (file === 'a.eml') t.equal(words(all.Author), `${CONTENT.name} <a@example.org>`);
      const name = encoding.ascii ? `${CONTENT.name}.txt` : 'a.txt';
      if (/zip|tar/.test(file)) t.equal(words(all['Embed<1>-Nested-Filename']), name, `name in ${file}`);
      const text = words(Object.values(all).join('\n'));
      t.match(text, EXPECTED, `text, ${file}`);
    }
  });
}
