import { channel } from 'node:diagnostics_channel';

/** One debugging message (G-150). Whoever subscribes decides by section and level whether it is made and shown. */
export interface DebugMessage {
  /** 1 to 255. */
  readonly section: number;
  /** 1 to 9 (G-151). */
  readonly level: number;
  /** Makes the text: one line, without the section. */
  readonly text: () => string;
}

/** `harvest:debug`, with a {@link DebugMessage}. Libraries publish here, programs that have `-D` subscribe. */
export const debugChannel = channel('harvest:debug');

/** Publishes a debugging message; while nobody listens nothing is computed. */
export function tell(section: number, level: number, text: () => string): void {
  if (!debugChannel.hasSubscribers) return;
  const message: DebugMessage = { section, level, text };
  debugChannel.publish(message);
}
