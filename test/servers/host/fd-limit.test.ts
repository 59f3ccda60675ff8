// What a log says when descriptors run out, in this process or in the whole system.
import t from 'tap';
import { DescriptorReports, descriptorRemedy } from '../../../servers/host/fd-limit.js';
import { createLoggerOn } from '../../../servers/host/index.js';

t.test('every way to say that no descriptor is left has its remedy', async (t) => {
  for (const text of [
    "EMFILE: too many open files, open '/a'",
    'connect EMFILE 127.0.0.1:80 - Local (undefined:undefined)',
    'spawn sh EMFILE',
    'getaddrinfo EMFILE a.example',
    'IO error: /data/000005.log: Too many open files',
    '/data/crawl cannot be read: EMFILE',
  ])
    t.match(descriptorRemedy(text), /Raise the limit: "ulimit -n NUMBER".*LimitNOFILE=/, text);
  for (const text of [
    'ENFILE: file table overflow, open /a',
    'IO error: /data/000005.log: Too many open files in system',
    'accept ENFILE',
  ])
    t.match(descriptorRemedy(text), /sysctl fs\.file-max=NUMBER/, text);
  t.equal(descriptorRemedy('ENOENT: no such file'), undefined);
});

t.test('each log has the remedy once a minute for each limit', async (t) => {
  let now = 0;
  const reports = new DescriptorReports(() => now);
  const look = (text: string) => reports.look(text).remedy?.includes('sysctl') ?? 'none';
  t.same(['EMFILE', 'EMFILE', 'ENFILE', 'ENFILE'].map(look), [false, 'none', true, 'none']);
  now = 60_000;
  t.equal(look('EMFILE'), false);
});

t.test(
  'a log is told by its own lines, by errors of threads, and by a host that refuses clients',
  async (t) => {
    const logs = [0, 1].map(() => {
      const lines: string[] = [];
      const stream = { write: (line: string) => void lines.push(line) };
      return { lines, log: createLoggerOn(stream, { program: 'a', json: false }) };
    });
    for (const { lines, log } of logs) {
      const remedies = () => lines.filter((line) => line.includes('Raise the limit')).length;
      log.warn({ err: new Error('IO error: 000005.log: Too many open files') }, 'a query failed');
      t.equal(remedies(), 1);
      log.error(descriptorRemedy('EMFILE') ?? '');
      log.child({ session: 2 }).error('EMFILE');
      t.equal(remedies(), 1, 'once, whatever asks for it');
      t.equal(lines.length, 3, 'and every other line');
    }
  },
);
