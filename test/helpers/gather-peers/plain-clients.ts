import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { LFTP, WGET } from './servers.js';

/** Documents that other programs find at a site, for comparison with a crawl. */

/** URLs that wget retrieved below `url`, canonical and sorted. */
export function wgetFinds(url: string, scratch: string, more: readonly string[] = []): string[] {
  const place = join(scratch, `wget-${Date.now()}-${process.pid}`);
  mkdirSync(place, { recursive: true });
  const args = ['-nv', '-r', '-l', 'inf', '-np', '-e', 'robots=off', '--no-proxy', '-P', place, ...more, url];
  const { stderr } = spawnSync(WGET, args, { encoding: 'utf8', timeout: 60_000, env: { LC_ALL: 'C.UTF-8' } });
  const urls = [...stderr.matchAll(/URL: ?(\S+) \[/g)].map(([, found = '']) => canonicalUrl(found) ?? found);
  return [...new Set(urls)].sort();
}

/** Files that `lftp find` lists, as paths without a leading slash, sorted. */
export function lftpFinds(port: number, login = ''): string[] {
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

/** The complete answer of a gopher server to a selector. */
export function gopherAsk(port: number, selector: string): Promise<Buffer> {
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

/** `type` and selector of every document in the menus of this server, sorted, without the menus. */
export async function gopherFinds(port: number): Promise<string[]> {
  const found = new Set<string>();
  const menus = [''];
  for (const menu of menus) {
    for (const line of (await gopherAsk(port, menu)).toString('utf8').split('\r\n')) {
      const [head = '', selector = '', host, at] = line.split('\t');
      if (host !== '127.0.0.1' || Number(at) !== port) continue;
      const type = head.slice(0, 1);
      if (type === 'i' || type === '3') continue;
      if (type !== '1') found.add(type + selector);
      else if (!menus.includes(selector)) menus.push(selector);
    }
  }
  return [...found].sort();
}
