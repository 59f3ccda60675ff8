// Counts what a bulk reply holds.
import type { SectionItem } from '../soif/index.js';
import type { BulkEvent, ChangeKind } from './events.js';

/** Counts the groups and objects of a reply, and emits an event for each object and warning. */
export class Groups {
  readonly #emit: (event: BulkEvent) => void;
  /** The open group. */
  open: ChangeKind | undefined;
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
    return this.objects > 0 || this.open !== undefined || this.closed.size > 0;
  }

  /** Takes an item of a SectionDecoder whose stream began `base` bytes after the start of the reply. */
  take(item: SectionItem, base: number): void {
    switch (item.kind) {
      case 'object': {
        const { section: change, object, bytes, exact } = item;
        this.objects++;
        this.#emit({ kind: 'change', change, object, bytes, exact, offset: base + item.offset });
        break;
      }
      case 'large':
        this.objects++;
        this.#emit({ kind: 'large', item: { ...item, offset: base + item.offset } });
        break;
      case 'large-bytes':
      case 'rewind':
        this.#emit({ kind: 'large', item: { ...item, offset: base + item.offset } });
        break;
      case 'section':
        if (item.open) this.open = item.section;
        else {
          this.open = undefined;
          this.closed.add(item.section);
        }
        break;
      case 'warning':
        this.warnings++;
        this.#emit({ ...item, offset: base + item.offset });
        break;
      case 'end-line':
    }
  }
}
