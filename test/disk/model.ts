// A model of a disk: what is durable, and what only the page cache has. States of crashes (states.ts) are
// choices between the two.
import type { Operation } from './recording.js';

/**
 * What a flush makes durable besides the content of its file. `journal`: names become durable in the order of
 * their changes. The flush of a file includes its own names, that of a directory the names in it, and both
 * include all earlier changes. ext4, XFS and Btrfs promise at least this. `hostile`: a change of names is
 * durable only when its directory was flushed; any of the others may be lost, in any order.
 */
export type Discipline = 'journal' | 'hostile';

/** A change of a file's content since its last flush. */
export type ContentChange =
  | { readonly kind: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly length: number };

/** The content of a file: durable bytes, and the changes after them. */
export interface FileNode {
  readonly kind: 'file';
  readonly id: number;
  durable: Buffer;
  pending: ContentChange[];
}

interface DirectoryNode {
  readonly kind: 'directory';
  readonly id: number;
}

export type Node = FileNode | DirectoryNode;

/** A change of names: all of its edits or none. */
export interface NameChange {
  readonly edits: readonly {
    readonly directory: number;
    readonly name: string;
    readonly node: Node | undefined;
  }[];
}

/** The names of each directory, by the directory's number. */
export type Names = Map<number, Map<string, Node>>;

export const ROOT_ID = 0;

/** Applies changes to content; `data` shorter than the gap before it is preceded by zeros. */
export function applyContent(content: Buffer, changes: readonly ContentChange[]): Buffer {
  let bytes = content;
  let copied = false;
  for (const change of changes) {
    const length =
      change.kind === 'truncate' ? change.length : Math.max(bytes.length, change.offset + change.data.length);
    if (!copied || length !== bytes.length) {
      const next = Buffer.alloc(length);
      bytes.copy(next, 0, 0, Math.min(length, bytes.length));
      bytes = next;
      copied = true;
    }
    if (change.kind === 'write') change.data.copy(bytes, change.offset);
  }
  return bytes;
}

/** Applies changes to names in place. */
export function applyNames(names: Names, changes: readonly NameChange[]): void {
  for (const { edits } of changes) {
    for (const { directory, name, node } of edits) {
      let entries = names.get(directory);
      if (entries === undefined) {
        entries = new Map();
        names.set(directory, entries);
      }
      if (node === undefined) entries.delete(name);
      else entries.set(name, node);
    }
  }
}

export function copyNames(names: Names): Names {
  return new Map([...names].map(([id, entries]) => [id, new Map(entries)]));
}

/** The disk after the operations so far. */
export class DiskModel {
  readonly files: FileNode[] = [];
  /** Durable names. */
  readonly durableNames: Names = new Map([[ROOT_ID, new Map()]]);
  /** Changes of names that are not durable, in their order. */
  pendingNames: NameChange[] = [];
  readonly marks: string[] = [];
  readonly #names: Names = new Map([[ROOT_ID, new Map()]]);
  readonly #handles = new Map<number, Node>();
  readonly #root: Node = { kind: 'directory', id: ROOT_ID };
  #lastId = ROOT_ID;

  constructor(readonly discipline: Discipline) {}

  apply(operation: Operation): void {
    switch (operation.kind) {
      case 'open':
        this.#open(operation.handle, operation.path, operation.created, operation.truncated);
        break;
      case 'write':
        this.#file(operation.handle).pending.push(operation);
        break;
      case 'truncate':
        this.#file(operation.handle).pending.push(operation);
        break;
      case 'sync':
        this.#sync(operation.handle);
        break;
      case 'rename':
        this.#change([operation.from, undefined], [operation.to, this.#find(operation.from)]);
        break;
      case 'link':
        this.#change([operation.to, this.#find(operation.from)]);
        break;
      case 'mkdir':
        this.#change([operation.path, { kind: 'directory', id: ++this.#lastId }]);
        break;
      case 'unlink':
      case 'rmdir':
        this.#change([operation.path, undefined]);
        break;
      case 'mark':
        this.marks.push(operation.text);
        break;
      case 'failure':
        break;
    }
  }

  /** All names, durable or not. */
  get names(): Names {
    return this.#names;
  }

  #open(handle: number, path: string, created: boolean, truncated: boolean): void {
    if (created) {
      const node: FileNode = { kind: 'file', id: ++this.#lastId, durable: Buffer.alloc(0), pending: [] };
      this.files.push(node);
      this.#change([path, node]);
    }
    const node = this.#find(path);
    if (truncated && node.kind === 'file') node.pending.push({ kind: 'truncate', length: 0 });
    this.#handles.set(handle, node);
  }

  #sync(handle: number): void {
    const node = this.#handles.get(handle);
    if (node === undefined) throw new Error(`no open file has the handle ${handle}`);
    if (node.kind === 'file') {
      node.durable = applyContent(node.durable, node.pending);
      node.pending = [];
    }
    const concerned = ({ edits }: NameChange): boolean =>
      edits.some(
        (edit) => edit.directory === node.id || (this.discipline === 'journal' && edit.node === node),
      );
    const last = this.pendingNames.findLastIndex(concerned);
    const isDurable = (change: NameChange, i: number): boolean =>
      this.discipline === 'journal' ? i <= last : concerned(change);
    applyNames(this.durableNames, this.pendingNames.filter(isDurable));
    this.pendingNames = this.pendingNames.filter((change, i) => !isDurable(change, i));
  }

  #change(...changes: readonly (readonly [path: string, node: Node | undefined])[]): void {
    const change = {
      edits: changes.map(([path, node]) => ({ ...this.#place(path), node })),
    };
    this.pendingNames.push(change);
    applyNames(this.#names, [change]);
  }

  #place(path: string): { directory: number; name: string } {
    const slash = path.lastIndexOf('/');
    const directory = this.#find(slash < 0 ? '' : path.slice(0, slash));
    return { directory: directory.id, name: path.slice(slash + 1) };
  }

  #find(path: string): Node {
    let node = this.#root;
    if (path === '') return node;
    for (const name of path.split('/')) {
      const next = this.#names.get(node.id)?.get(name);
      if (next === undefined) throw new Error(`the recording names ${path}, which does not exist`);
      node = next;
    }
    return node;
  }

  #file(handle: number): FileNode {
    const node = this.#handles.get(handle);
    if (node?.kind !== 'file') throw new Error(`no open file has the handle ${handle}`);
    return node;
  }
}
