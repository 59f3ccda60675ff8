// What scripts need besides Node: programs of Debian's packages, documents, Python programs. Root on Debian
// installs what is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where documents and Python programs for the tests are kept between runs. */
export const TEST_DATA = process.env.HARVEST_TEST_DATA ?? join(tmpdir(), 'harvest-test-data');

/** Documents of every kind, on which the kit's readers are compared with Debian's programs. */
const DOCUMENT_PACKAGES =
  'cxref-doc pari-doc manpages-dev spooles-doc libcurl4-doc libpython3.11-testsuite groff sc3-plugins-language python3-docutils spamassassin wp2latex';
/** Texts in many languages, with which the guess of a character set is compared with others. */
const TEXT_PACKAGES = 'gnome-user-docs gnome-control-center-data';

const unpacked = (packages: string): string =>
  `mkdir -p "$0" && cd "$0" && apt-get download ${packages} && for f in *.deb; do dpkg -x "$f" "\${f%%_*}" && rm "$f"; done`;
const python = (packages: string): string =>
  `python3 -m venv "$0" && "$0/bin/pip" install --quiet --retries 1 --timeout 20 ${packages}`;

/** The libraries of Java in `lib`. @param pom the list of them */
const libraries = (pom: string): string =>
  `mkdir -p "$0" && mvn -q -B -f ${pom} dependency:copy-dependencies -DoutputDirectory="$0/lib"`;

/** Needs that are not packages of Debian: a script for `bash` whose `$0` is the folder to make. */
const FOLDERS: Readonly<Record<string, string>> = {
  'essence-corpus': unpacked(DOCUMENT_PACKAGES),
  'charset-corpus': unpacked(TEXT_PACKAGES),
  'archive-tools': python('warcio==1.8.1 cdxj-indexer==1.5.0 wacz==0.6.0'),
  pywb: python('pywb==2.10.0'),
  moto: python("'moto[server]==5.2.1'"),
  s3proxy: libraries('test/helpers/s3/pom.xml'),
  opensearch: libraries('test/helpers/opensearch/pom.xml'),
};

/** inn2 cannot be configured on a host whose name has no dots: it is then configured with one that has. */
const CONFIGURE_INN = `sed -i -E "s/^#?(pathhost|domain):.*//" /etc/news/inn.conf
printf "pathhost: news.example.net\\ndomain: example.net\\n" >>/etc/news/inn.conf
dpkg --configure inn2`;

const APT_OPTIONS = [
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=20',
  '-o',
  'Acquire::https::Timeout=20',
];

function run(command: string, args: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}

function isInstalled(packageName: string): boolean {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', `\${Status}`, packageName], { encoding: 'utf8' });
  return stdout === 'install ok installed';
}

function isPresent(need: string): boolean {
  return need in FOLDERS ? existsSync(join(TEST_DATA, need, '.complete')) : isInstalled(need);
}

/** Servers must not start when their packages are installed. */
function forbidServices(): void {
  const policy = '/usr/sbin/policy-rc.d';
  if (!existsSync(policy)) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
}

/**
 * Installs Debian's packages, all at once, else one by one: one that is missing must not keep out the others.
 */
function installPackages(names: readonly string[]): void {
  if (names.length === 0) return;
  forbidServices();
  if (!run('apt-get', [...APT_OPTIONS, 'update'])) return;
  const install = (packages: readonly string[]): boolean =>
    run('apt-get', [...APT_OPTIONS, 'install', '-y', '--no-install-recommends', ...packages]);
  if (install(names)) return;
  for (const name of names) if (!install([name]) && name === 'inn2') run('bash', ['-c', CONFIGURE_INN]);
}

function makeFolder(name: string): void {
  const folder = join(TEST_DATA, name);
  mkdirSync(folder, { recursive: true });
  if (run('bash', ['-c', FOLDERS[name] ?? 'false', folder])) writeFileSync(join(folder, '.complete'), '');
}

/**
 * Installs what is missing, if this is root on Debian and a mirror answers.
 * @returns the needs that stay missing, with the reason
 */
export function provide(needs: Iterable<string>): Map<string, string> {
  const wanted = [...new Set(needs)].filter((need) => !isPresent(need));
  if (wanted.length === 0) return new Map();
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (canInstall) {
    const folders = wanted.filter((need) => need in FOLDERS);
    const programs = folders.length === 0 ? [] : ['python3-venv'].filter((name) => !isInstalled(name));
    installPackages([...wanted.filter((need) => !(need in FOLDERS)), ...programs]);
    for (const folder of folders) makeFolder(folder);
  }
  const reason = canInstall ? 'no mirror' : 'not installed';
  return new Map(wanted.filter((need) => !isPresent(need)).map((need) => [need, `${reason}: ${need}`]));
}
