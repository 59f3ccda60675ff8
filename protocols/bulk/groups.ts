// Counts what a bulk reply holds.
import type { SectionItem } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import type { BulkEvent, ChangeKind } from './events.js';
import { GROUP_STATES } from './states.js';

/** Counts the groups and objects of a reply, and emits an event for each object and warning. */
export class Groups {
  readonly #emit: (event: BulkEvent) => void;
  readonly #machine = new StateMachine(GROUP_STATES, 'before');
  /** The group that was opened last. */
  #group: ChangeKind = 'update';
  readonly closed = new Set<ChangeKind>();
  /** Objects of all groups. */
  objects = 0;
  /** Warnings so far. */
  warnings = 0;

  constructor(emit: (event: BulkEvent) => void) {
    this.#emit = emit;
  }

  /** Whether a body has begun. */
  get begun(): boolean {
    return this.#machine.state !== 'before';
  }

  /** The open group. */
  get open(): ChangeKind | undefined {
    return this.#machine.state === 'group' ? this.#group : undefined;
  }

  /** Takes an item of a SectionDecoder whose stream began `base` bytes after the start of the reply. */
  take(item: SectionItem, base: number): void {
    switch (item.kind) {
      case 'object': {
        const { section: change, object, bytes, exact } = item;
        this.#machine.step('object');
        this.objects++;
        this.#emit({ kind: 'change', change, object, bytes, exact, offset: base + item.offset });
        break;
      }
      case 'large':
        this.#machine.step('object');
        this.objects++;
        this.#emit({ kind: 'large', item: { ...item, offset: base + item.offset } });
        break;
      case 'large-bytes':
      case 'rewind':
        this.#emit({ kind: 'large', item: { ...item, offset: base + item.offset } });
        break;
      case 'section':
        this.#machine.step(item.open ? 'open' : 'close');
        if (item.open) this.#group = item.section;
        else this.closed.add(item.section);
        break;
      case 'warning':
        this.warnings++;
        this.#emit({ ...item, offset: base + item.offset });
        break;
      case 'end-line':
    }
  }
}
