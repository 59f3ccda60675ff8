// The network side of a run: settings, addresses, queues, robots.txt, bandwidth.
import type { Fetcher } from '../../../clients/fetch/index.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { announce } from '../../crawler/events.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { FrontierPreparer } from '../../crawler/preparer.js';
import { HostAddresses } from '../../crawler/servers/host-addresses.js';
import { TotalBandwidth } from '../../crawler/servers/politeness.js';
import { ServerCache } from '../../crawler/servers/server-cache.js';
import type { SideCaptures } from '../../crawler/warc/captures.js';
import { addressGroup, isLoopbackGroup } from '../../host/address-group.js';
import { GatherSettings } from '../configuration/gather-settings.js';
import { configuredUrls, UrlLogins } from '../configuration/url-logins.js';
import { keepWireFor } from './archive.js';
import type { RunNodes } from './run-state.js';

/** Product tokens in robots.txt, beside those of the User-Agent that is sent (G-63, G-65). */
const ROBOTS_AGENT = 'Harvest harvest-kit';
export const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

export interface NetworkOptions {
  readonly config: GathererConfig;
  readonly order: CrawlOrderConfig;
  /** Whether the configuration names the order. */
  readonly ordered: boolean;
  readonly fetcher: Fetcher;
  readonly readTimeoutMs: number;
}

export class RunNetwork {
  readonly userAgent: string;
  readonly settings: GatherSettings;
  readonly addresses: HostAddresses;
  readonly preparer: FrontierPreparer;
  readonly servers: ServerCache;
  readonly bandwidth: TotalBandwidth;
  readonly logins: UrlLogins;
  /**
   * Archives addresses and robots.txt. The WARC files are opened after the logs, which report their
   * damage.
   */
  side: SideCaptures | undefined;

  constructor({ config, order, ordered, fetcher, readTimeoutMs }: NetworkOptions, { roots }: RunNodes) {
    this.userAgent = config.httpUserAgent ?? USER_AGENT;
    this.logins = new UrlLogins(configuredUrls(config));
    // A proxy may be anywhere, whatever the address of the host is.
    const isOwnMachine = (host: string): boolean =>
      config.httpProxy === undefined && isLoopback(this.addresses.addressesOf(host));
    this.settings = new GatherSettings(order, ordered, roots, isOwnMachine);
    this.addresses = new HostAddresses({
      validitySeconds: (host) => this.settings.forUrl(`http://${host}/`).ipValiditySeconds,
      onResolved: async (host, found) => this.side?.recordAddresses(host, found),
    });
    this.preparer = new FrontierPreparer({
      settingsFor: (uri) => this.settings.forUri(uri),
      addressOf: (host) => this.addresses.bytesOf(host),
      onSharedQueue: warnOfSharedQueue,
    });
    this.bandwidth = new TotalBandwidth(order.totalBandwidthKBs);
    this.servers = new ServerCache({
      fetcher,
      settingsFor: (url) => this.settings.forUrl(url),
      robotsAgent: ROBOTS_AGENT,
      userAgent: this.userAgent,
      timeoutMs: readTimeoutMs,
      loginFor: (url) => this.logins.of(url),
      addresses: this.addresses,
      archive:
        order.warc.directory === ''
          ? undefined
          : { keepWire: keepWireFor(order.warc), record: async (fetched) => this.side?.record(fetched) },
    });
  }

  /** What robots META addresses the crawler by. */
  get robotsAgent(): string {
    return `${this.userAgent} ${ROBOTS_AGENT}`;
  }
}

/** Whether all of the addresses, and at least one, are of the loopback interface. */
function isLoopback(addresses: readonly string[]): boolean {
  return addresses.length > 0 && addresses.every((address) => isLoopbackGroup(addressGroup(address)));
}

/** CRAWL-9.9. */
function warnOfSharedQueue(queue: string, hosts: readonly string[]): void {
  announce(
    `queueAssignment elf: ${hosts.join(' and ')} share queue ${queue}, and URIs of one host are in several queues: pauses and single connections are not kept for each host`,
  );
}
