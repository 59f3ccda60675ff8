// `urlget`, `urlpurge` and the original programs for FTP, Gopher and news, as processes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { countingSite, onLines, scripted } from '../clients/fetch/scripted.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

// Each test starts processes, which takes long on a busy machine.
t.test('G-89, G-173, G-174 urlget fetches a document, urlpurge removes the cached ones', async (t) => {
  const directory = await temporaryDirectory(t);
  const { base, requests } = await countingSite(t);
  const get = (...words: string[]) => cli('urlget', '--cache', join(directory, 'cache'), ...words);
  t.match(await get(`${base}/moved`), { code: 0, stdout: 'page 2' });
  const file = join(directory, 'out');
  const saved = await get('--json', '-o', file, `${base}/page`);
  t.match(JSON.parse(saved.stdout), { url: `${base}/page`, status: 200, cached: true, length: 6 });
  t.equal(readFileSync(file, 'utf8'), 'page 2');
  t.equal(requests(), 2);
  const [none, away, refused] = await Promise.all([
    get(`${base}/none`),
    get(`${base}/away`),
    get('http://127.0.0.1:1/'),
  ]);
  t.match(none, { code: 1, stdout: '', stderr: /status 404/ });
  t.match(away, { code: 1, stdout: '', stderr: /file:\/\/localhost\/etc\/passwd is not followed/ });
  t.match(refused, { code: 3, stderr: /connection refused/ });
  const purge = await cli('urlpurge', '--cache', join(directory, 'cache'), '--json');
  t.match(JSON.parse(purge.stdout), { removed: 1, entries: 0 });
});

t.test('G-89 ftpget, gopherget and newsget accept the original arguments', async (t) => {
  const gopher = await scripted(t, (socket) => onLines(socket, (line) => socket.end(`you asked ${line}`)));
  const news = await scripted(t, (socket) => {
    socket.write('200 hi\r\n');
    onLines(socket, (line) => {
      const isArticle = line === 'ARTICLE <a@h>';
      socket.write(isArticle ? '220 0 <a@h>\r\nSubject: x\r\n\r\nbody\r\n.\r\n' : '200 ok\r\n');
    });
  });
  const ftp = await scripted(t, (socket) => {
    socket.write('220 hi\r\n');
    onLines(socket, (line) => socket.write(line === 'USER joe' ? '331 password\r\n' : '530 never\r\n'));
  });
  const [menu, article, login, usage] = await Promise.all([
    cli('gopherget', '-', '127.0.0.1', String(gopher.port), '/a/../b c'),
    cli('newsget', '-', `news://127.0.0.1:${news.port}/a@h`),
    cli('ftpget', '-htmlify', '-', `127.0.0.1:${ftp.port}`, 'pub/x', 'I', 'joe', 'secret'),
    cli('ftpget', '-', '127.0.0.1', 'x', 'B'),
  ]);
  t.match(menu, { code: 0, stdout: 'you asked /a/../b c' });
  t.match(article, { code: 0, stdout: 'Subject: x\r\n\r\nbody\r\n' });
  t.match(login, { code: 1, stderr: /status 401 \(530 never\)/ });
  t.match(usage, { code: 2 });
});
