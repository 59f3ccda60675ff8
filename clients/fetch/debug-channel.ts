// The diagnostics channel for debugging messages (G-150).
import { channel } from 'node:diagnostics_channel';

/** One debugging message (G-150). A subscriber decides by section and level whether it computes the text. */
export interface DebugMessage {
  /** 1 to 255. */
  readonly section: number;
  /** 1 to 9 (G-151). */
  readonly level: number;
  /** Returns the text: one line, without the section. */
  readonly text: () => string;
}

/** `harvest:debug`, with a {@link DebugMessage}. Libraries publish; programs with `-D` subscribe. */
export const debugChannel = channel('harvest:debug');

/** Publishes a debugging message. Costs nothing while the channel has no subscriber. */
export function publishDebug(section: number, level: number, text: () => string): void {
  if (!debugChannel.hasSubscribers) return;
  const message: DebugMessage = { section, level, text };
  debugChannel.publish(message);
}
