/**
 * The commands that an execution has obeyed: one that is repeated under its id is
 * answered, and not obeyed again.
 *
 * Owns: how they are kept in the execution's record, for how long and how many. Does not own: what a command
 * writes (`obey.ts`), what a repeated one is answered (`scheduler/commands.ts`).
 *
 * An id is one command's: what asks for something else under it is another command. Remembered is what was
 * obeyed, also where nothing had to change: a pause of what is paused already has
 * happened, and must not happen after the next resume. No refusal is remembered, and nothing is written to
 * what has ended: its parent, which may have it go on, knows it by its version.
 */

import type { Command } from '../decisions/events.ts';
import type { Execution } from '../records/state.ts';
import { given } from '../values/given.ts';

export const REMEMBERED_DAYS = 30;
const REMEMBERED_MS = REMEMBERED_DAYS * 86_400_000;
/** The most commands that one execution remembers, so that its record keeps room: they take 6 KB. */
export const MAX_REMEMBERED = 200;

type Remembering = Pick<Execution, 'commands'>;

/**
 * `<hash>@<time>`, and for a retry `.<number>` of the latest question that it is about; all in base 36.
 * Earlier releases wrote no number, or the id itself and no time.
 */
const MARK = /^[0-9a-z]{13}@([0-9a-z]+)(?:\.([0-9a-z]+))?$/;

/**
 * 64 bits, in base 36: enough to tell some hundred ids apart, and no secret rests
 * on it (FNV-1a, by code units).
 */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at += 1)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  return hash.toString(36).padStart(13, '0');
}

const markOf = (commandId: string, at: number, upTo?: number): string =>
  `${shortHash(commandId)}@${at.toString(36)}${upTo === undefined ? '' : `.${upTo.toString(36)}`}`;

/** What a command is known by; absent where it cannot be repeated. */
type Named = Pick<Command, 'type' | 'commandId'>;

/** No id has a NUL at this place by accident. */
const keyOf = (type: Command['type'], commandId: string): string => `${type}\0${commandId}`;

/** A command that was obeyed. */
export interface Obeyed {
  /** When; 0 where that is not recorded. */
  readonly at: number;
  /** For a retry the number of the latest question that it is about, 0 if of none. */
  readonly upTo?: number;
}

/** What is known of the command if it was obeyed. */
export function obeyedOf({ commands }: Remembering, { type, commandId }: Named): Obeyed | undefined {
  if (commandId === undefined || commands.length === 0) return undefined;
  if (commands.includes(commandId)) return { at: 0 };
  // An earlier release has kept the id alone.
  const starts = [keyOf(type, commandId), commandId].map((key) => markOf(key, 0).slice(0, -1));
  const known = commands.find((one) => starts.some((start) => one.startsWith(start)));
  const [, at, upTo] = MARK.exec(known ?? '') ?? [];
  if (at === undefined) return undefined;
  return {
    at: Number.parseInt(at, 36),
    ...given({ upTo: upTo === undefined ? undefined : Number.parseInt(upTo, 36) }),
  };
}

const recent = ({ commands }: Remembering, now: number): readonly string[] =>
  commands
    .map((one) => (MARK.test(one) ? one : markOf(one, now)))
    .filter((one) => now - Number.parseInt(MARK.exec(one)?.[1] ?? '', 36) < REMEMBERED_MS);

/** Whether another command would displace one that may still be repeated. */
export const isMemoryFull = (execution: Remembering, now: number): boolean =>
  recent(execution, now).length >= MAX_REMEMBERED;

/**
 * What is remembered once the command is obeyed; a command without an id cannot be repeated. Where there is
 * no room, which the caller has asked, the oldest is forgotten.
 * @param upTo of a retry the latest question that it is about
 */
export function remembering(
  execution: Remembering,
  { type, commandId, now }: Named & { readonly now: number },
  upTo?: number,
): readonly string[] {
  if (commandId === undefined || obeyedOf(execution, { type, commandId }) !== undefined)
    return execution.commands;
  return [...recent(execution, now), markOf(keyOf(type, commandId), now, upTo)].slice(-MAX_REMEMBERED);
}
