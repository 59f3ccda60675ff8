// Every script of the tests, one row each: what it proves, how long it takes, and when it runs. A test demands
// a row for each script.
import type { Kind, Script, Tier } from './script.js';

/** Runs a command of the project as if it were a script. */
function command(name: string, tier: Tier, seconds: number, words: string): Script {
  return { name, tier, seconds, kind: 'exact', paths: [], needs: [], command: words.split(' ') };
}

/** Name, tier, processor seconds, kind, paths, and behind `|` the needs. */
const ROWS = `
areas/run                          core     4 exact    test/run
areas/broker                       core    26 exact    servers/broker servers/web
areas/broker-long                  gate    55 exact    servers/broker servers/web test/servers/broker
areas/crawl                        core    17 exact    servers/crawler
areas/crawl-long                   gate    50 exact    servers/crawler test/servers/crawler
areas/essence                      core    22 exact    servers/essence
areas/essence-long                 gate    28 exact    servers/essence test/servers/essence
areas/fuzz                         gate    14 exact    protocols storage servers clients test/fuzz
areas/gatherd                      core    19 exact    servers/gatherd servers/host clients/gatherd
areas/gatherd-long                 gate    15 exact    servers/gatherd clients/connection test/servers/gatherd
areas/gatherer                     core    23 exact    servers/gatherer clients/fetch
areas/gatherer-long                gate    90 exact    servers/gatherer clients/fetch test/servers/gatherer
areas/indexers                     core    10 exact    storage/indexers
areas/indexers-long                gate    86 exact    storage/indexers test/storage/indexers
areas/protocols                    core    30 exact    protocols
areas/refererd                     core    13 exact    servers/refererd
areas/replication                  core     7 exact    servers/broker clients/bulk
areas/replication-long             gate    48 exact    servers/broker clients/bulk test/servers/broker test/clients/bulk
areas/storage                      core    26 exact    storage clients/references
areas/storage-long                 gate    12 exact    storage clients/references test/storage
areas/whole                        core    43 exact    servers/all-in-one servers/cli
areas/whole-long                   gate    11 exact    servers/all-in-one servers/cli test/servers/all-in-one
programs/broker                    gate    15 exact    servers/broker servers/cli
programs/commands                  gate    25 exact    servers/cli servers/gatherer
programs/crawl-command             gate    43 exact    servers/crawler servers/cli
programs/crawl-console             gate     9 exact    servers/crawler/console servers/cli
programs/databases                 gate    69 exact    storage/databases servers/cli
programs/essence                   gate    40 exact    servers/essence servers/cli
programs/examples                  gate    15 exact    examples servers/gatherer
programs/exit-status               core     6 exact    servers/cli
programs/failures                  gate    32 exact    servers/cli servers/all-in-one
programs/gatherd                   core    10 exact    servers/gatherd servers/cli
programs/gatherd-life              gate    19 exact    servers/gatherd servers/cli
programs/gatherer-options          gate    15 exact    servers/gatherer servers/cli
programs/inetd                     gate    15 exact    servers/gatherd servers/host
programs/init                      gate     9 exact    servers/cli/init servers/cli
programs/links                     gate    15 exact    storage/references servers/refererd servers/all-in-one
programs/manual-programs           gate    10 exact    servers/cli servers/essence
programs/mirror                    gate    31 exact    servers/cli clients/gatherd
programs/monitor                   gate    28 exact    servers/monitor servers/host
programs/operations                gate    15 exact    docs/operations.md servers/cli storage/backup
programs/own-documents             gate     7 exact    README.md docs servers/cli servers/all-in-one
programs/own-programs              gate    15 exact    examples/programs storage/indexers
programs/publish                   gate    20 exact    storage/publishing storage/blobs servers/gatherer servers/gatherd servers/refererd docs/publish.md
programs/query                     core     6 exact    servers/cli clients/broker
programs/readme                    gate     8 exact    README.md docs servers/cli clients
programs/refererd                  gate    61 timed    servers/refererd servers/cli
programs/refererd-idle-clients     gate     6 timed    servers/refererd servers/host
programs/registry                  gate    15 exact    storage/original-registry servers/cli
programs/registry-layouts          gate    15 exact    storage/original-registry protocols/registry
programs/run-every                 gate    15 timed    servers/all-in-one servers/cli
programs/soif-tools                gate    10 exact    clients/soif-tools servers/cli protocols/soif
programs/start                     core     4 exact    servers/cli servers/all-in-one
programs/thousand-sites            gate    37 exact    servers/crawler clients/fetch
programs/tls                       gate    38 exact    servers/host/tls.ts servers/host/tls.ts clients/connection
programs/upgrades                  gate    60 exact    test/upgrades storage
programs/urlget                    gate     7 exact    clients/fetch servers/cli
clients/conformance/broker-client  gate     4 exact    clients/conformance/broker-client clients/broker
clients/conformance/broker-server  gate    10 exact    clients/conformance/broker servers/broker
clients/conformance/bulk-client    gate     6 exact    clients/conformance/bulk-client clients/bulk
clients/conformance/bulk-server    gate     6 exact    clients/conformance/bulk servers/broker
clients/conformance/core           core    10 exact    clients/conformance
clients/conformance/html-report    gate     3 exact    clients/conformance
clients/conformance/rule-book      gate     3 exact    clients/conformance protocols/specification
clients/conformance/gatherd-client gate     8 exact    clients/conformance/gatherd-client clients/gatherd
clients/conformance/gatherd-server gate     3 exact    clients/conformance/gatherd servers/gatherd
clients/conformance/soif           gate     5 exact    clients/conformance/soif protocols/soif
clients/conformance/sstp           gate     4 exact    clients/conformance/sstp servers/refererd protocols/sstp
clients/conformance/sstp-client    gate     4 exact    clients/conformance/sstp-client clients/references
conformance/mutation               gate    44 seeded   clients/conformance test/conformance
faults/backup-running              gate    24 seeded   storage/backup
faults/broker-crash                gate     8 seeded   servers/broker storage/broker
faults/bulk-chain                  gate     8 seeded   servers/broker clients/bulk
faults/bulk-kill                   gate    12 seeded   servers/broker clients/bulk
faults/cookies-kill                gate    12 seeded   servers/crawler clients/fetch
faults/crawl-kill                  gate    70 seeded   servers/crawler storage/seen
faults/gather-kill                 gate    13 seeded   servers/gatherer storage/gatherer
faults/gather-methods-kill         gate    18 seeded   servers/gatherer clients/fetch | vsftpd
faults/gatherd-kill                core     8 seeded   servers/gatherd clients/gatherd
faults/references-kill             gate    18 seeded   storage/references servers/gatherer
faults/references-publish-kill     gate    13 seeded   storage/references
faults/restored-data               gate   120 exact    storage/backup storage/summaries servers/all-in-one
attacks/admin-bytes                gate     4 exact    servers/broker
attacks/admission                  gate    15 exact    servers/host servers/web servers/gatherd servers/broker servers/refererd
attacks/broker-aborted-replies     gate    15 exact    servers/broker
attacks/broker-expensive-queries   verify  15 measured servers/broker servers/host
attacks/broker-hostile-messages    core     5 exact    servers/broker
attacks/broker-many-clients        verify  15 measured servers/broker servers/host
attacks/broker-passwords           core     7 exact    servers/broker
attacks/broker-slow-readers        verify  15 measured servers/broker servers/host
attacks/collections                gate     9 exact    servers/broker
attacks/command-line-secrets       gate    25 exact    servers/cli servers/gatherer
attacks/console-floods             verify  15 measured servers/host servers/web
attacks/cross-protocol             gate     3 timed    servers/host servers/gatherd servers/broker servers/refererd
attacks/damaged-crawl-files        gate    15 exact    servers/crawler storage/seen
attacks/damaged-crawls             gate    29 exact    servers/crawler storage/seen
attacks/damaged-data               gate    30 seeded   storage servers/all-in-one
attacks/damaged-files              gate     8 exact    storage
attacks/damaged-generations        gate    15 exact    storage
attacks/damaged-indexes            gate    15 exact    storage
attacks/damaged-references         gate    15 exact    storage
attacks/damaged-seen-filters       gate    15 exact    servers/crawler storage/seen
attacks/damaged-store-running      gate    15 exact    storage
attacks/damaged-stores             gate    15 exact    storage
attacks/damaged-while-running      gate    15 exact    storage
attacks/endless-responses          gate    15 exact    clients/fetch servers/gatherer
attacks/essence-bombs              gate    30 seeded   servers/essence
attacks/essence-own-limits         gate    15 exact    servers/essence
attacks/essence-reader-processes   gate    15 exact    servers/essence
attacks/exchanged-lists            gate    15 exact    storage
attacks/full-disk-collecting       gate    26 exact    storage/files servers/broker servers/gatherer servers/host
attacks/full-disk-gathering        gate    50 exact    storage/files servers/broker servers/gatherer servers/host
attacks/full-disk-logs             gate    13 exact    storage/files servers/broker servers/gatherer servers/host
attacks/full-disk-outputs          gate    25 exact    storage/files servers/broker servers/gatherer servers/host
attacks/full-disk-servers          gate    42 exact    storage/files servers/broker servers/gatherer servers/host
attacks/grammar-floods             gate    20 seeded   servers/host servers/web servers/gatherd servers/broker servers/refererd
attacks/half-open-connections      gate    15 timed    servers/host servers/gatherd servers/broker servers/refererd
attacks/host-header                gate    15 exact    servers/web servers/refererd servers/crawler/console
attacks/hostile-listings           gate    15 exact    clients/fetch servers/gatherer
attacks/hostile-tool-inputs        gate    15 exact    clients/soif-tools servers/cli storage/databases
attacks/http-refusals              gate    15 exact    servers/web servers/refererd servers/crawler/console
attacks/http-shapes                gate    15 exact    servers/web servers/refererd servers/crawler/console
attacks/idle-connections           gate    15 timed    servers/host servers/web servers/gatherd servers/broker servers/refererd
attacks/large-bodies               verify  90 measured servers/crawler clients/fetch
attacks/large-objects              verify  15 measured servers/broker storage/broker
attacks/large-objects-commands     gate    15 exact    clients/soif-tools servers/cli storage/databases
attacks/log-floods                 verify  15 measured servers/host servers/web
attacks/page-log-floods            verify  15 measured servers/host servers/web
attacks/passwords                  gate    15 exact    clients/fetch servers/gatherer
attacks/pipelined-floods           verify  15 measured servers/host servers/web
attacks/pipelined-pages            verify  15 measured servers/host servers/web
attacks/private-crawl-restart      gate    15 exact    servers/gatherer clients/fetch
attacks/publication-pauses         verify  15 measured storage/references servers/gatherer
attacks/rebinding                  gate    15 exact    clients/fetch servers/gatherer
attacks/returned-memory            verify  60 measured test/soak servers/host
attacks/references-passwords       gate    15 exact    servers/refererd servers/host
attacks/registry-takeover          gate    15 exact    storage/original-registry
attacks/shortened-logs             gate    15 exact    storage
attacks/slow-peers                 gate    15 timed    servers/host servers/gatherd servers/broker servers/refererd
attacks/small-limits               gate    20 timed    servers/host servers/cli
attacks/last-descriptors           gate    25 timed    servers/host servers/cli
attacks/soak                       verify  15 measured test/soak
attacks/stopping                   gate    15 timed    servers/host servers/cli
attacks/store-check                gate    15 exact    storage
attacks/store-repair               gate    26 exact    storage
attacks/terminal                   gate    20 exact    servers/cli servers/gatherer
attacks/urls-with-logins           gate    15 exact    servers/cli servers/gatherer
slow/damaged-data                  verify 200 seeded   storage
slow/essence-hostile               gate    16 exact    servers/essence
slow/frontier-histories            gate    13 seeded   servers/crawler/frontier storage/seen
slow/order-keys                    gate    30 timed    servers/crawler
peers/a-week                       gate    15 timed    servers/all-in-one | faketime nginx-light
peers/archive-tools                gate    15 exact    servers/crawler/warc | archive-tools zstd
peers/berkeley-db                  gate    15 exact    storage/references | db5.3-util libdb5.3-dev gcc libc6-dev
peers/broker-gateways              gate    15 exact    servers/broker | perl netcat-openbsd
peers/browser-fetcher              gate    15 timed    clients/fetch servers/crawler | chromium
peers/clock-jumps                  gate    40 timed    servers/all-in-one servers/gatherer servers/broker | faketime
peers/clock-jumps-crawl        verify  40 timed    servers/crawler servers/gatherer | faketime
peers/clock-jumps-running          verify  70 timed    servers/all-in-one servers/gatherer servers/broker servers/gatherd | faketime
peers/console-browser              gate    15 timed    servers/crawler/console | chromium fonts-dejavu-core
peers/crash-broker-store           gate     5 seeded   storage/broker | gcc libc6-dev
peers/crash-checkpoints            gate     5 seeded   servers/crawler | gcc libc6-dev
peers/crash-crawl-files            gate    13 seeded   servers/crawler storage/seen | gcc libc6-dev
peers/crash-database-files         gate     3 seeded   storage/databases | gcc libc6-dev
peers/crash-fetch-cache            gate     4 seeded   clients/fetch storage | gcc libc6-dev
peers/crash-gatherer-store         gate    10 seeded   storage/gatherer | gcc libc6-dev
peers/crash-index-file             gate     4 seeded   storage/indexers | gcc libc6-dev
peers/crash-page-ranks             gate    11 seeded   storage/references | gcc libc6-dev
peers/crash-publication            gate    22 seeded   storage/generations | gcc libc6-dev
peers/crash-registry               gate     4 seeded   storage/original-registry | gcc libc6-dev
peers/disk-faults-broker           gate    32 seeded   servers/broker storage/files | gcc libc6-dev
peers/disk-faults-commands         gate    38 seeded   servers/cli storage | gcc libc6-dev
peers/essence-charsets             verify  15 exact    servers/essence/charset | charset-corpus uchardet
peers/essence-corpora              verify  15 exact    servers/essence | essence-corpus mandoc unrtf poppler-utils ghostscript catdvi catdoc odt2txt libwpd-tools texlive-binaries opensp
peers/essence-types                gate    15 exact    servers/essence | file
peers/ftp-fetch                    gate    15 exact    clients/fetch/ftp | vsftpd python3-pyftpdlib
peers/full-disk-stores             gate    15 exact    storage | gcc libc6-dev
peers/gather-ftp                   gate    15 exact    servers/gatherer clients/fetch/ftp | lftp vsftpd python3-pyftpdlib squid
peers/gather-gopher                gate    15 exact    servers/gatherer protocols/gopher | gophernicus socat pygopherd
peers/gather-http                  gate    15 exact    servers/gatherer | nginx-light apache2-bin wget openssl squid
peers/gather-news                  verify  15 exact    servers/gatherer protocols/nntp | inn2
peers/gatherd-clients              gate    15 exact    servers/gatherd | perl netcat-openbsd gzip
peers/gdbm                         gate    15 exact    storage/databases | gdbmtool
peers/glimpse                      gate    15 exact    storage/indexers | glimpse
peers/gopher-fetch                 gate    15 exact    clients/fetch protocols/gopher | gophernicus socat pygopherd
peers/indexer-changes              gate    15 seeded   storage/indexers | glimpse swish-e
peers/indexers                     gate    15 exact    storage/indexers | glimpse swish-e
peers/indexers-conformance         gate    15 exact    storage/indexers clients/conformance/broker | glimpse swish-e
peers/monitoring                   gate    15 exact    servers/monitor examples/monitoring | prometheus
peers/nginx-site                   gate    15 exact    servers/gatherer servers/gatherd servers/broker | nginx-light postgresql-doc-15 perl netcat-openbsd
peers/nntp-fetch                   verify  15 exact    clients/fetch protocols/nntp | inn2
peers/proxies                      gate    15 exact    servers/broker/web examples/proxies | nginx-light caddy openssl
peers/opensearch                   verify  90 seeded   storage/indexers/opensearch | opensearch maven openjdk-17-jdk-headless
peers/opensearch-kills             verify 120 seeded   storage/indexers/opensearch | opensearch maven openjdk-17-jdk-headless
peers/opensearch-brokers           verify 200 exact    storage/indexers/opensearch servers/broker/admin | opensearch maven openjdk-17-jdk-headless postgresql
peers/postgres                     verify  60 seeded   storage/postgres storage/rows storage/broker storage/gatherer servers/crawler/frontier | postgresql
peers/s3                           verify  40 seeded   storage/blobs | s3proxy moto maven openjdk-17-jre-headless
peers/postgres-brokers             verify 150 exact    storage/postgres storage/broker servers/broker | postgresql
peers/postgres-crawlers            verify 600 seeded   storage/postgres storage/gatherer storage/leases servers/crawler/frontier servers/gatherer/run | postgresql
peers/postgres-gatherer            verify 120 exact    storage/postgres storage/gatherer servers/gatherer servers/crawler/checkpoint.ts | postgresql
peers/postgres-shared-run          verify 120 exact    servers/gatherer/run servers/crawler/controller.ts storage/gatherer | postgresql
peers/pywb-replay                  verify  15 exact    servers/crawler/warc | pywb chromium fonts-dejavu-core
peers/refererd-page                gate    15 timed    servers/refererd | chromium fonts-dejavu-core
peers/socks-fetch                  gate    15 exact    clients/fetch | microsocks
peers/soif-readers                 verify  15 exact    protocols/soif servers/gatherd | gcc libc6-dev make perl
peers/squid-fetch                  gate    15 exact    clients/fetch | squid python3-pyftpdlib
peers/swish                        gate    15 exact    storage/indexers | swish-e
peers/systemd                      gate    15 exact    examples/systemd servers/host/notify.ts | systemd socat
peers/tshark-sstp                  gate    15 timed    protocols/sstp servers/refererd | tshark
peers/web-page                     gate    15 timed    servers/broker/web | chromium fonts-dejavu-core
`;

function scriptOf(row: string): Script {
  const [fields = '', needs = ''] = row.split(' | ');
  const [name = '', tier, seconds, kind, ...paths] = fields.split(/ +/);
  return {
    name,
    tier: tier as Tier,
    seconds: Number(seconds),
    kind: kind as Kind,
    paths,
    needs: needs.split(' ').filter((need) => need !== ''),
  };
}

export const MANIFEST: readonly Script[] = [
  // 98 targets of 20 seconds, two at a time.
  {
    ...scriptOf('fuzz/fuzz verify 2000 measured test/fuzz'),
    args: ['--seconds', '20', '--jobs', '2'],
  },
  command('check/coverage', 'verify', 600, 'npm run --silent coverage'),
  // Beside the tests: compiling without it takes a fifth of the time.
  command(
    'check/types',
    'core',
    65,
    'node_modules/.bin/tsc --noEmit --tsBuildInfoFile dist/.tsbuildinfo-types',
  ),
  command('check/lint', 'gate', 16, 'node_modules/.bin/biome check .'),
  command('check/unused', 'gate', 10, 'node_modules/.bin/knip'),
  ...ROWS.trim().split('\n').map(scriptOf),
];
