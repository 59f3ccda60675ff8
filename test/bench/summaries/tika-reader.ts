// Apache Tika as a reader: one Java process that stays warm.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Reader } from './reader.js';

const found = z.object({
  text: z.string(),
  title: z.string().nullable(),
  author: z.string().nullable(),
  date: z.string().nullable(),
  language: z.string().nullable(),
});

/** @param jar tika-app; @param source the path of TikaReader.java */
export function tikaReader(jar: string, source: string): Reader {
  const java: ChildProcessWithoutNullStreams = spawn('java', ['-Xmx2g', '-cp', jar, source]);
  java.stderr.resume();
  const lines = createInterface({ input: java.stdout })[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<unknown> => {
    java.stdin.write(`${line}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('Tika has ended');
    return JSON.parse(value);
  };
  return {
    name: 'Tika',
    pid: java.pid,
    async read(path) {
      const { text, title, author, date, language } = found.parse(await ask(path));
      return {
        text,
        title: title ?? undefined,
        author: author ?? undefined,
        date: date ?? undefined,
        language: language ?? undefined,
      };
    },
    cpuMilliseconds: async () => z.object({ cpu: z.number() }).parse(await ask('#')).cpu,
    async [Symbol.asyncDispose]() {
      java.kill();
    },
  };
}
