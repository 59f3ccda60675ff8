// Lists the documents of a site with other programs, for comparison with a crawl.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { words } from '../words.js';
import { LFTP, WGET } from './servers.js';

/** Returns the URLs that wget retrieves below `url`, canonical and sorted. */
export function listWithWget(url: string, scratch: string, options: readonly string[] = []): string[] {
  const directory = join(scratch, `wget-${Date.now()}-${process.pid}`);
  mkdirSync(directory, { recursive: true });
  const args = words`-nv -r -l inf -np -e robots=off --no-proxy -P ${directory} ${options} ${url}`;
  const { stderr } = spawnSync(WGET, args, { encoding: 'utf8', timeout: 60_000, env: { LC_ALL: 'C.UTF-8' } });
  const urls = [...stderr.matchAll(/URL: ?(\S+) \[/g)].map(([, found = '']) => canonicalUrl(found) ?? found);
  return [...new Set(urls)].sort();
}

/** Returns the files that `lftp find` lists, as sorted paths without a leading slash. */
export function listWithLftp(port: number, login = ''): string[] {
  const script = 'set net:max-retries 2; set ftp:charset utf-8; set file:charset utf-8; find; bye';
  const { stdout } = spawnSync(LFTP, ['-e', script, `ftp://${login}127.0.0.1:${port}/`], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { LC_ALL: 'C.UTF-8', HOME: '/nonexistent' },
  });
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('/'))
    .map((line) => line.replace(/^\.?\//, ''))
    .sort();
}

/** Returns the complete answer of a Gopher server to a selector. */
export function requestGopher(port: number, selector: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    connect(port, '127.0.0.1', function (this: ReturnType<typeof connect>) {
      this.write(`${selector}\r\n`);
    })
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('error', reject)
      .once('end', () => resolve(Buffer.concat(chunks)));
  });
}

/** Follows the menus of a server. Returns the type and selector of every document except the menus, sorted. */
export async function listGopherDocuments(port: number): Promise<string[]> {
  const found = new Set<string>();
  const menus = [''];
  for (const menu of menus) {
    for (const line of (await requestGopher(port, menu)).toString('utf8').split('\r\n')) {
      const [head = '', selector = '', host, itemPort] = line.split('\t');
      if (host !== '127.0.0.1' || Number(itemPort) !== port) continue;
      const type = head.slice(0, 1);
      if (type === 'i' || type === '3') continue;
      if (type !== '1') found.add(type + selector);
      else if (!menus.includes(selector)) menus.push(selector);
    }
  }
  return [...found].sort();
}
