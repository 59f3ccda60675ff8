// Two clients of the 1990s, rebuilt from their description in the specification (gatherd.md 0, 3.1, 3.7, 6,
// 7.3; soif.md 4.8), without any of their code.
import { gunzipSync } from 'node:zlib';
import { Wire } from './wire.js';

type Write = (piece: Uint8Array) => void | Promise<void>;

/**
 * The ROADS client: no HELLO, no compression, CR LF. It ends at a line that begins with 099 or 499, does not
 * wait for the answer to QUIT, and never reports a failure.
 */
export async function roadsClient(port: number, write: Write, signal?: AbortSignal): Promise<number> {
  const wire = await Wire.open('127.0.0.1', port).catch(() => undefined);
  if (wire === undefined) return 1;
  signal?.addEventListener('abort', () => wire.close());
  if (!/^000 - HELLO/.test((await wire.readLine()) ?? '')) return 1;
  wire.send('SEND-UPDATE 0\r\n');
  let record: string[] | undefined;
  const flush = async () => {
    if (record !== undefined) await write(Buffer.from(`${record.join('')}}\n`, 'latin1'));
    record = undefined;
  };
  for (;;) {
    const line = await wire.readLine();
    if (line === undefined || /^(?:099|499)/.test(line)) break;
    const attribute = /^([^{}]+)\{(\d+)\}:\t(.*)$/s.exec(line);
    if (/^@FILE\s*\{/.test(line)) {
      await flush();
      record = [line];
    } else if (attribute !== null) {
      const missing = Number(attribute[2]) + 1 - (attribute[3] ?? '').length;
      const rest = missing > 0 ? await wire.readBytes(missing).catch(() => undefined) : Buffer.alloc(0);
      if (rest === undefined) break;
      record?.push(line + rest.toString('latin1'));
    }
  }
  await flush();
  wire.send('QUIT\r\n');
  wire.close();
  return 0;
}

/**
 * The sample client of the Metadata distribution. It answers every status line with the next command, and
 * copies the data after 400 up to a line that begins with 499, compressed or not.
 * @param compression whether it requests compression
 * @param info whether it requests the description: reads one object and sends QUIT
 */
export async function beckettClient(
  port: number,
  write: Write,
  { compression, info }: { readonly compression: boolean; readonly info: boolean },
  signal?: AbortSignal,
): Promise<number> {
  const wire = await Wire.open('127.0.0.1', port).catch(() => undefined);
  if (wire === undefined) return 1;
  signal?.addEventListener('abort', () => wire.close());
  try {
    for (;;) {
      const line = await wire.readLine();
      if (line === undefined) return 1;
      const [, code, text = ''] = /^(\d+) - (.*)$/s.exec(line.replace(/\r?\n$/, '')) ?? [];
      if (code === '000') {
        if (!/^HELLO\s+\S+\s+\S+/.test(text)) return 1;
        wire.send('HELLO client.example.org\n');
      } else if (code === '100') {
        wire.send(info ? 'INFO\n' : compression ? 'SET compression\n' : 'SEND-UPDATE 0\n');
        if (info && (await copyObject(wire, write))) wire.send('QUIT\n');
      } else if (code === '500') wire.send('SEND-UPDATE 0\n');
      else if (code === '400') {
        const data = await readToEndLine(wire);
        await write(compression ? gunzipSync(data) : data);
        wire.send('QUIT\n');
      } else if (code === '600') wire.send('QUIT\n');
      else if (code === '999') return 0;
    }
  } catch {
    return 1;
  } finally {
    wire.close();
  }
}

/** Reads lines up to the one that begins with 499, or to the end. */
async function readToEndLine(wire: Wire): Promise<Uint8Array> {
  const lines: Uint8Array[] = [];
  for (;;) {
    const line = await wire.readLine();
    if (line === undefined) return Buffer.concat([...lines, (await wire.readChunk()) ?? Buffer.alloc(0)]);
    if (line.startsWith('499')) return Buffer.concat(lines);
    lines.push(Buffer.from(line, 'latin1'));
  }
}

/** Copies one object, after skipping other lines. Resolves with false if the connection ends. */
async function copyObject(wire: Wire, write: Write): Promise<boolean> {
  const lines: string[] = [];
  for (;;) {
    const line = await wire.readLine();
    if (line === undefined) return false;
    if (lines.length === 0 && !line.startsWith('@')) continue;
    const [, size, first = ''] = /^[^{}]+\{(\d+)\}:\t(.*)$/s.exec(line) ?? [];
    const missing = size === undefined ? 0 : Number(size) + 1 - first.length;
    lines.push(line + (missing > 0 ? (await wire.readBytes(missing)).toString('latin1') : ''));
    if (line === '}\n') break;
  }
  await write(Buffer.from(lines.join(''), 'latin1'));
  return true;
}
