import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { daemon, freePort } from '../daemon.js';

export const IS_ROOT = process.getuid?.() === 0;

/** The reason to skip a test, or false if its requirements are met. */
export function needs(programs: readonly string[], root = false): string | false {
  const missing = programs.filter((path) => !existsSync(path));
  if (missing.length > 0) return `${missing.join(', ')} needed`;
  return root && !IS_ROOT ? 'root is needed' : false;
}

export const NGINX = '/usr/sbin/nginx';
export const APACHE = '/usr/sbin/apache2';
export const VSFTPD = '/usr/sbin/vsftpd';
export const SQUID = '/usr/sbin/squid';
export const LFTP = '/usr/bin/lftp';
export const WGET = '/usr/bin/wget';
export const INND = '/usr/lib/news/bin/innd';
export const OPENSSL = '/usr/bin/openssl';

export const hasPyftpdlib = (): boolean =>
  spawnSync('/usr/bin/python3', ['-c', 'import pyftpdlib']).status === 0;

/** A server with its request log. */
export interface Served {
  readonly port: number;
  /** Lines of its log of requests. */
  readonly log: () => string[];
}

function logOf(file: string): () => string[] {
  return () => (existsSync(file) ? readFileSync(file, 'latin1').split('\n').slice(0, -1) : []);
}

/** nginx with lists of directories; with `key` and `certificate` over TLS. */
export async function startNginx(
  t: Test,
  scratch: string,
  root: string,
  tls?: { readonly key: string; readonly certificate: string },
): Promise<Served> {
  const port = await freePort();
  const own = join(scratch, `nginx-${port}`);
  mkdirSync(join(own, 'tmp'), { recursive: true });
  const log = join(own, 'access.log');
  const ssl = tls === undefined ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`;
  writeFileSync(
    join(own, 'nginx.conf'),
    `daemon off; master_process off; worker_processes 1; pid ${own}/pid; error_log ${own}/error.log warn;
events { worker_connections 128; }
http { include /etc/nginx/mime.types; default_type text/plain; charset utf-8;
  log_format short '$request_method $request_uri $status $body_bytes_sent'; access_log ${log} short;
  client_body_temp_path ${own}/tmp/b; proxy_temp_path ${own}/tmp/p; fastcgi_temp_path ${own}/tmp/f;
  uwsgi_temp_path ${own}/tmp/u; scgi_temp_path ${own}/tmp/s;
  server { listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'}; ${ssl} root ${root}; autoindex on; index none; } }
`,
  );
  await daemon(t, port, NGINX, ['-c', join(own, 'nginx.conf'), '-p', own]);
  return { port, log: logOf(log) };
}

const APACHE_MODULES = ['mpm_event', 'authz_core', 'autoindex', 'dir', 'mime'];

/** apache2 with lists of directories that can be sorted in eight ways. */
export async function startApache(t: Test, scratch: string, root: string): Promise<Served> {
  const port = await freePort();
  const own = join(scratch, `apache-${port}`);
  mkdirSync(own, { recursive: true });
  const log = join(own, 'access.log');
  const modules = APACHE_MODULES.map(
    (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
  );
  writeFileSync(
    join(own, 'apache.conf'),
    `ServerRoot ${own}
PidFile ${own}/pid
Listen 127.0.0.1:${port}
ServerName 127.0.0.1
${modules.join('\n')}
${IS_ROOT ? 'User www-data\nGroup www-data' : ''}
TypesConfig /etc/mime.types
ErrorLog ${own}/error.log
DocumentRoot ${root}
<Directory ${root}>
  Require all granted
  Options +Indexes
  IndexOptions FancyIndexing Charset=UTF-8
</Directory>
`,
  );
  await daemon(t, port, APACHE, ['-f', join(own, 'apache.conf'), '-D', 'FOREGROUND']);
  return { port, log: logOf(log) };
}

/** vsftpd for anonymous; the log has one line per command. */
export async function startVsftpd(t: Test, scratch: string, root: string): Promise<Served> {
  const port = await freePort();
  const own = join(scratch, `vsftpd-${port}`);
  mkdirSync(join(own, 'empty'), { recursive: true });
  const config = join(own, 'vsftpd.conf');
  const log = join(own, 'log');
  writeFileSync(
    config,
    `listen=YES\nlisten_address=127.0.0.1\nlisten_port=${port}\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO
anon_root=${root}\nno_anon_password=NO\npasv_address=127.0.0.1\nsecure_chroot_dir=${own}/empty
seccomp_sandbox=NO\nforce_dot_files=YES\nxferlog_enable=YES\nxferlog_std_format=NO\nvsftpd_log_file=${log}\nlog_ftp_protocol=YES\n`,
  );
  await daemon(t, port, VSFTPD, [config]);
  return { port, log: logOf(log) };
}

/** pyftpdlib for anonymous, or for one user with a password. */
export async function startPyftpdlib(
  t: Test,
  root: string,
  login?: { readonly user: string; readonly password: string },
): Promise<number> {
  const port = await freePort();
  const who = login === undefined ? [] : ['-u', login.user, '-P', login.password];
  await daemon(t, port, '/usr/bin/python3', [
    ...['-m', 'pyftpdlib', '-i', '127.0.0.1', '-p', String(port), '-d', root],
    ...who,
  ]);
  return port;
}

/** squid without a cache. */
export async function startSquid(t: Test, scratch: string): Promise<Served> {
  const port = await freePort();
  const own = join(scratch, `squid-${port}`);
  mkdirSync(own, { recursive: true });
  spawnSync('chown', ['proxy', own]);
  const config = join(scratch, `squid-${port}.conf`);
  writeFileSync(
    config,
    `http_port 127.0.0.1:${port}\nacl here src 127.0.0.1\nhttp_access allow here\nhttp_access deny all\ncache deny all
pid_filename ${own}/pid\naccess_log stdio:${own}/access.log\ncache_log ${own}/cache.log\ncoredump_dir ${own}
netdb_filename none\npinger_enable off\nvisible_hostname localhost\nshutdown_lifetime 1 second\n`,
  );
  await daemon(t, port, SQUID, ['-N', '-f', config]);
  return { port, log: logOf(join(own, 'access.log')) };
}

/** gophernicus started by socat as the user nobody. */
export async function startGophernicus(t: Test, root: string): Promise<number> {
  const port = await freePort();
  const server = `gophernicus -h 127.0.0.1 -p ${port} -r ${root} -o utf-8 -nx`;
  await daemon(t, port, 'setpriv', [
    ...['--reuid=nobody', '--regid=nogroup', '--clear-groups', 'socat'],
    `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`,
    `EXEC:"${server}"`,
  ]);
  return port;
}

export const PYGOPHERD = '/usr/sbin/pygopherd';
export const PYGOPHERD_CONFIG = '/etc/pygopherd/pygopherd.conf';

export async function startPygopherd(t: Test, scratch: string, root: string): Promise<number> {
  const port = await freePort();
  const settings: Readonly<Record<string, string>> = {
    port: String(port),
    root,
    detach: 'no',
    usechroot: 'no',
    logmethod: 'file',
    pidfile: join(scratch, 'pygopherd.pid'),
  };
  const lines = readFileSync(PYGOPHERD_CONFIG, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*#?\s*(set[ug]id|interface|servername|logfile)\b/.test(line))
    .map((line) => {
      const name = /^\s*(\w+)\s*[=:]/.exec(line)?.[1] ?? '';
      return settings[name] === undefined ? line : `${name} = ${settings[name]}`;
    });
  const config = join(scratch, 'pygopherd.conf');
  const head = '[pygopherd]\ninterface = 127.0.0.1\nservername = 127.0.0.1';
  writeFileSync(config, lines.join('\n').replace('[pygopherd]', head));
  await daemon(t, port, '/usr/bin/python3', [PYGOPHERD, config]);
  return port;
}

const AS_NEWS = ['--reuid=news', '--regid=news', '--init-groups'];
const NEWS_BIN = '/usr/lib/news/bin';

/** INN with its spool below `scratch`, independent of the configuration of this machine. */
export async function startInn(t: Test, scratch: string, groups: readonly string[]): Promise<number> {
  const port = await freePort();
  const own = join(scratch, `inn-${port}`);
  const places = ['etc', 'db', 'run', 'log', 'log/OLD', 'tmp', 'spool', 'spool/articles', 'spool/overview'];
  for (const place of [
    ...places,
    'spool/incoming',
    'spool/incoming/tmp',
    'spool/incoming/bad',
    'spool/outgoing',
  ])
    mkdirSync(join(own, place), { recursive: true });
  cpSync('/etc/news', join(own, 'etc'), { recursive: true });
  const inn = join(own, 'etc', 'inn.conf');
  writeFileSync(
    inn,
    `mta: "/bin/true %s"\nmailcmd: /bin/true\npathhost: news.example.net\ndomain: example.net\nfromhost: example.net
ovmethod: tradindexed\nhismethod: hisv6\npathnews: /usr/lib/news\npathbin: ${NEWS_BIN}\npathetc: ${own}/etc\npathdb: ${own}/db
pathrun: ${own}/run\npathlog: ${own}/log\npathtmp: ${own}/tmp\npathspool: ${own}/spool\npatharticles: ${own}/spool/articles
pathoverview: ${own}/spool/overview\npathincoming: ${own}/spool/incoming\npathoutgoing: ${own}/spool/outgoing
pathfilter: ${own}/etc/filter\nenableoverview: true\nwireformat: true\n`,
  );
  writeFileSync(
    join(own, 'etc', 'readers.conf'),
    'auth "here" {\n  hosts: "127.0.0.1"\n  default: "<here>"\n}\naccess "here" {\n  users: "<here>"\n  newsgroups: "*"\n  access: RPAN\n}\n',
  );
  const active = ['control', 'junk', 'control.cancel', ...groups];
  writeFileSync(
    join(own, 'db', 'active'),
    active.map((name) => `${name} 0000000000 0000000001 y\n`).join(''),
  );
  writeFileSync(join(own, 'db', 'newsgroups'), '');
  writeFileSync(join(own, 'db', 'active.times'), '');
  writeFileSync(join(own, 'db', 'history'), '');
  chmodSync(scratch, 0o755);
  spawnSync('chown', ['-R', 'news:news', own]);
  const environment = [`INNCONF=${inn}`, 'LC_ALL=C'];
  const asNews = (...command: readonly string[]) =>
    spawnSync('setpriv', [...AS_NEWS, 'env', ...environment, ...command], {
      cwd: join(own, 'db'),
      timeout: 10_000,
    });
  asNews(`${NEWS_BIN}/makedbz`, '-i', '-o', '-s', '10000');
  t.teardown(() => asNews(`${NEWS_BIN}/ctlinnd`, '-t', '3', 'shutdown', 'done'));
  await daemon(t, port, 'setpriv', [
    ...[...AS_NEWS, 'env', ...environment],
    ...[INND, '-f', '-P', String(port), '-4', '127.0.0.1'],
  ]);
  return port;
}
