// Starts third-party servers on loopback, each with its own directory and port.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePort, startDaemon } from '../daemon.js';

export const IS_ROOT = process.getuid?.() === 0;

/**
 * Returns the reason to skip a test, or false if the programs are installed and root is available if required.
 */
export function skipUnless(programs: readonly string[], needsRoot = false): string | false {
  const missing = programs.filter((path) => !existsSync(path));
  if (missing.length > 0) return `${missing.join(', ')} needed`;
  return needsRoot && !IS_ROOT ? 'root is needed' : false;
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

/** A server that logs its requests. */
export interface LoggedServer {
  readonly port: number;
  /** Reads the lines of the log. */
  readonly log: () => string[];
}

function logOf(file: string): () => string[] {
  return () => (existsSync(file) ? readFileSync(file, 'latin1').split('\n').slice(0, -1) : []);
}

/** Starts nginx with directory listings; with `tls` for HTTPS. */
export async function startNginx(
  t: Test,
  scratch: string,
  root: string,
  tls?: { readonly key: string; readonly certificate: string },
): Promise<LoggedServer> {
  const port = await freePort();
  const home = join(scratch, `nginx-${port}`);
  mkdirSync(join(home, 'tmp'), { recursive: true });
  const log = join(home, 'access.log');
  const ssl = tls === undefined ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`;
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log warn;
events { worker_connections 128; }
http { include /etc/nginx/mime.types; default_type text/plain; charset utf-8;
  log_format short '$request_method $request_uri $status $body_bytes_sent'; access_log ${log} short;
  client_body_temp_path ${home}/tmp/b; proxy_temp_path ${home}/tmp/p; fastcgi_temp_path ${home}/tmp/f;
  uwsgi_temp_path ${home}/tmp/u; scgi_temp_path ${home}/tmp/s;
  server { listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'}; ${ssl} root ${root}; autoindex on; index none; } }
`,
  );
  await startDaemon(t, port, NGINX, ['-c', join(home, 'nginx.conf'), '-p', home]);
  return { port, log: logOf(log) };
}

const APACHE_MODULES = ['mpm_event', 'authz_core', 'autoindex', 'dir', 'mime'];

/** Starts apache2 with directory listings, which link to themselves in eight sort orders. */
export async function startApache(t: Test, scratch: string, root: string): Promise<LoggedServer> {
  const port = await freePort();
  const home = join(scratch, `apache-${port}`);
  mkdirSync(home, { recursive: true });
  const log = join(home, 'access.log');
  const modules = APACHE_MODULES.map(
    (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
  );
  writeFileSync(
    join(home, 'apache.conf'),
    `ServerRoot ${home}
PidFile ${home}/pid
Listen 127.0.0.1:${port}
ServerName 127.0.0.1
${modules.join('\n')}
${IS_ROOT ? 'User www-data\nGroup www-data' : ''}
TypesConfig /etc/mime.types
ErrorLog ${home}/error.log
DocumentRoot ${root}
<Directory ${root}>
  Require all granted
  Options +Indexes
  IndexOptions FancyIndexing Charset=UTF-8
</Directory>
`,
  );
  await startDaemon(t, port, APACHE, ['-f', join(home, 'apache.conf'), '-D', 'FOREGROUND']);
  return { port, log: logOf(log) };
}

/** Starts vsftpd for anonymous users; the log has one line per command. */
export async function startVsftpd(t: Test, scratch: string, root: string): Promise<LoggedServer> {
  const port = await freePort();
  const home = join(scratch, `vsftpd-${port}`);
  mkdirSync(join(home, 'empty'), { recursive: true });
  const config = join(home, 'vsftpd.conf');
  const log = join(home, 'log');
  writeFileSync(
    config,
    `listen=YES\nlisten_address=127.0.0.1\nlisten_port=${port}\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO
anon_root=${root}\nno_anon_password=NO\npasv_address=127.0.0.1\nsecure_chroot_dir=${home}/empty
seccomp_sandbox=NO\nforce_dot_files=YES\nxferlog_enable=YES\nxferlog_std_format=NO\nvsftpd_log_file=${log}\nlog_ftp_protocol=YES\n`,
  );
  await startDaemon(t, port, VSFTPD, [config]);
  return { port, log: logOf(log) };
}

/** Starts pyftpdlib for anonymous users, or for one user with a password. */
export async function startPyftpdlib(
  t: Test,
  root: string,
  login?: { readonly user: string; readonly password: string },
): Promise<number> {
  const port = await freePort();
  const loginArgs = login === undefined ? [] : ['-u', login.user, '-P', login.password];
  await startDaemon(t, port, '/usr/bin/python3', [
    ...['-m', 'pyftpdlib', '-i', '127.0.0.1', '-p', String(port), '-d', root],
    ...loginArgs,
  ]);
  return port;
}

/** Starts squid without a cache. */
export async function startSquid(t: Test, scratch: string): Promise<LoggedServer> {
  const port = await freePort();
  const home = join(scratch, `squid-${port}`);
  mkdirSync(home, { recursive: true });
  spawnSync('chown', ['proxy', home]);
  const config = join(scratch, `squid-${port}.conf`);
  writeFileSync(
    config,
    `http_port 127.0.0.1:${port}\nacl here src 127.0.0.1\nhttp_access allow here\nhttp_access deny all\ncache deny all
pid_filename ${home}/pid\naccess_log stdio:${home}/access.log\ncache_log ${home}/cache.log\ncoredump_dir ${home}
netdb_filename none\npinger_enable off\nvisible_hostname localhost\nshutdown_lifetime 1 second\n`,
  );
  await startDaemon(t, port, SQUID, ['-N', '-f', config]);
  return { port, log: logOf(join(home, 'access.log')) };
}

/** Starts socat, which starts gophernicus for each connection, as the user nobody. */
export async function startGophernicus(t: Test, root: string): Promise<number> {
  const port = await freePort();
  const server = `gophernicus -h 127.0.0.1 -p ${port} -r ${root} -o utf-8 -nx`;
  await startDaemon(t, port, 'setpriv', [
    ...['--reuid=nobody', '--regid=nogroup', '--clear-groups', 'socat'],
    `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`,
    `EXEC:"${server}"`,
  ]);
  return port;
}

export const PYGOPHERD = '/usr/sbin/pygopherd';
export const PYGOPHERD_CONFIG = '/etc/pygopherd/pygopherd.conf';

/** Starts pygopherd with the configuration of this machine except port, directory, user and log. */
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
  await startDaemon(t, port, '/usr/bin/python3', [PYGOPHERD, config]);
  return port;
}

const AS_NEWS = ['--reuid=news', '--regid=news', '--init-groups'];
const NEWS_BIN = '/usr/lib/news/bin';

/**
 * Starts INN with its spool below `scratch`, without load limit and independent of the configuration of this
 * machine.
 */
export async function startInn(t: Test, scratch: string, groups: readonly string[]): Promise<number> {
  const port = await freePort();
  const home = join(scratch, `inn-${port}`);
  const spool = ['articles', 'overview', 'incoming', 'incoming/tmp', 'incoming/bad', 'outgoing'];
  const directories = ['etc', 'db', 'run', 'log/OLD', 'tmp', ...spool.map((name) => `spool/${name}`)];
  for (const directory of directories) mkdirSync(join(home, directory), { recursive: true });
  cpSync('/etc/news', join(home, 'etc'), { recursive: true });
  const inn = join(home, 'etc', 'inn.conf');
  writeFileSync(
    inn,
    `mta: "/bin/true %s"\nmailcmd: /bin/true\npathhost: news.example.net\ndomain: example.net\nfromhost: example.net
ovmethod: tradindexed\nhismethod: hisv6\npathnews: /usr/lib/news\npathbin: ${NEWS_BIN}\npathetc: ${home}/etc\npathdb: ${home}/db
pathrun: ${home}/run\npathlog: ${home}/log\npathtmp: ${home}/tmp\npathspool: ${home}/spool\npatharticles: ${home}/spool/articles
pathoverview: ${home}/spool/overview\npathincoming: ${home}/spool/incoming\npathoutgoing: ${home}/spool/outgoing
pathfilter: ${home}/etc/filter\nenableoverview: true\nwireformat: true\nnnrpdloadlimit: 0\n`,
  );
  writeFileSync(
    join(home, 'etc', 'readers.conf'),
    'auth "here" {\n  hosts: "127.0.0.1"\n  default: "<here>"\n}\naccess "here" {\n  users: "<here>"\n  newsgroups: "*"\n  access: RPAN\n}\n',
  );
  const active = ['control', 'junk', 'control.cancel', ...groups];
  writeFileSync(
    join(home, 'db', 'active'),
    active.map((name) => `${name} 0000000000 0000000001 y\n`).join(''),
  );
  writeFileSync(join(home, 'db', 'newsgroups'), '');
  writeFileSync(join(home, 'db', 'active.times'), '');
  writeFileSync(join(home, 'db', 'history'), '');
  chmodSync(scratch, 0o755);
  spawnSync('chown', ['-R', 'news:news', home]);
  const environment = [`INNCONF=${inn}`, 'LC_ALL=C'];
  const runAsNews = (...command: readonly string[]) =>
    spawnSync('setpriv', [...AS_NEWS, 'env', ...environment, ...command], {
      cwd: join(home, 'db'),
      timeout: 10_000,
    });
  runAsNews(`${NEWS_BIN}/makedbz`, '-i', '-o', '-s', '10000');
  t.teardown(() => runAsNews(`${NEWS_BIN}/ctlinnd`, '-t', '3', 'shutdown', 'done'));
  await startDaemon(t, port, 'setpriv', [
    ...[...AS_NEWS, 'env', ...environment],
    ...[INND, '-f', '-P', String(port), '-4', '127.0.0.1'],
  ]);
  return port;
}
