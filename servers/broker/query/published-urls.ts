import type { BrokerConfig } from '../../../protocols/config/index.js';
import { brokerPath, httpOrigin, objectPath } from './object-path.js';

/**
 * The URLs that replies to queries contain: the query page (line `126`) and the content summary of each object
 * (line `125`). They are on `Public-URL`, else on the web server of the broker's process if it has one, else on
 * `HTTP-Host` and `HTTP-Port`.
 */
export class PublishedUrls {
  readonly #config: () => BrokerConfig;
  #webAddress: { readonly host: string; readonly port: number } | undefined;

  constructor(config: () => BrokerConfig) {
    this.#config = config;
  }

  /** Sets the address of the web server of the broker's process. */
  setWebAddress(host: string, port: number): void {
    this.#webAddress = { host, port };
  }

  /** BRK-4.11: URL of the query page: `Home-Page`, or this broker's page on its web server. */
  get homePage(): string {
    const { homePage, brokerName, httpHost, httpPort } = this.#config();
    // The default of Home-Page is the page on HTTP-Host; any other value was configured.
    if (homePage !== `${httpOrigin(httpHost, httpPort)}${brokerPath(brokerName)}`) return homePage;
    return `${this.#origin}${brokerPath(brokerName)}`;
  }

  /** BRK-4.10: URL of an object's content summary. */
  objectUrl(oid: number): string {
    return `${this.#origin}${objectPath(this.#config().brokerName, oid)}`;
  }

  /** BRK-9: what precedes the pages' paths in links; empty unless `Public-URL` has a path. */
  get base(): string {
    const { publicUrl } = this.#config();
    return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  }

  get #origin(): string {
    const { httpHost, httpPort, publicUrl } = this.#config();
    if (publicUrl !== undefined) return publicUrl;
    return httpOrigin(this.#webAddress?.host ?? httpHost, this.#webAddress?.port ?? httpPort);
  }
}
