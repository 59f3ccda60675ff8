// The configuration of a running broker, which commands change.
import { type BrokerConfig, rereadBrokerConfig, setBrokerVariable } from '../../../protocols/config/index.js';

/** Options of {@link CurrentConfig}. */
export interface CurrentConfigOptions {
  readonly initial: BrokerConfig;
  /** Reads the configuration again. Default: it stays as it was at the start. */
  readonly reread: (() => Promise<BrokerConfig>) | undefined;
  /** Called after each change. */
  readonly onChange: (config: BrokerConfig, previous: BrokerConfig) => void;
}

/** The configuration of a running broker, which `#set` and `#restart` change (BRK-5.3). */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions;
  #config: BrokerConfig;

  constructor(options: CurrentConfigOptions) {
    this.#options = options;
    this.#config = options.initial;
  }

  get value(): BrokerConfig {
    return this.#config;
  }

  /**
   * BRK-5.1 `#set`: changes a variable for this run; returns its name as the table has it.
   *
   * @throws UsageError for an unknown name, a variable that cannot change while the program runs, or an invalid
   *   value
   */
  set(name: string, value: string): string {
    const { config, variable } = setBrokerVariable(this.#config, name, value);
    this.#change(config);
    return variable;
  }

  /**
   * BRK-5.1 `#restart`: reads the configuration again, which undoes {@link set}.
   *
   * @returns names of the variables whose new values take effect at the next start of the program
   */
  async reread(): Promise<readonly string[]> {
    const { initial, reread } = this.#options;
    const { config, waiting } = rereadBrokerConfig(this.#config, (await reread?.()) ?? initial);
    this.#change(config);
    return waiting;
  }

  #change(config: BrokerConfig): void {
    const previous = this.#config;
    this.#config = config;
    this.#options.onChange(config, previous);
  }
}
