/**
 * The commands that an execution has obeyed: a command repeated under its id is answered, and not obeyed
 * again.
 *
 * Owns: how they are kept in the execution's record, for how long and how many. Does not own: what a command
 * writes (`obey.ts`), the answer to a repeated one (`scheduler/commands.ts`).
 *
 * An id belongs to one command: a different request under it is not a repeat, and is refused. An obeyed
 * command is remembered even if nothing had to change: a pause of a paused execution has happened, and must
 * not happen after the next resume. A refusal is not remembered, and nothing is written to an ended
 * execution: its parent, which may let it go on, identifies it by its version.
 */

import type { Command } from '../decisions/events.ts';
import type { Execution } from '../records/state.ts';
import { defined } from '../values/defined.ts';
import { canonicalJson, type Json } from '../values/json.ts';

export const REMEMBERED_DAYS = 30;
const REMEMBERED_MS = REMEMBERED_DAYS * 86_400_000;
/** The most commands that one execution remembers, so that its record keeps room: they take 8 KB. */
export const MAX_REMEMBERED = 200;

type Remembering = Pick<Execution, 'commands'>;

/**
 * `<hash>@<time>`, for a retry `.<number>` of the latest question that it concerns, all in base 36, and
 * `~<hash>` of the request.
 */
const MARK = /^[0-9a-z]{13}@([0-9a-z]+)(?:\.([0-9a-z]+))?~([0-9a-f]{8})$/;

/** 64 bits: enough to tell some hundred ids apart, and no secret rests on it (FNV-1a, by code units). */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at += 1)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  return hash;
}

/** The fields of a command that must be equal in a repeat. */
type Asked = Pick<Command, 'type' | 'commandId'> & {
  readonly undo?: false;
  readonly withinMs?: number;
  readonly input?: Json;
  readonly step?: string;
};

/** No id has a NUL at this place by accident. */
const keyOf = (type: Command['type'], commandId: string): string => `${type}\0${commandId}`;

const startOf = (key: string): string => `${hashOf(key).toString(36).padStart(13, '0')}@`;

/** 32 bits of the request; its reason may have other words. */
function contentOf({ type, undo, withinMs, input, step }: Asked): string {
  const hash = hashOf(canonicalJson({ type, ...defined({ undo, withinMs, input, step }) }));
  return BigInt.asUintN(32, hash ^ (hash >> 32n))
    .toString(16)
    .padStart(8, '0');
}

/** A command that was obeyed. */
export interface Obeyed {
  /** The time at which the command was obeyed. */
  readonly at: number;
  /** For a retry the number of the latest question that it concerns, 0 if there is none. */
  readonly upTo?: number;
  /** The obeyed command, if another one makes a different request under its id. */
  readonly other?: Command['type'];
}

const TYPES: readonly Command['type'][] = ['cancel', 'pause', 'resume', 'retry'];

/** The memory of the command if this command, or another one under its id, was obeyed. */
export function obeyedOf({ commands }: Remembering, command: Asked): Obeyed | undefined {
  const { type, commandId } = command;
  if (commandId === undefined || commands.length === 0) return undefined;
  const markOf = (key: string): RegExpExecArray | undefined => {
    const start = startOf(key);
    return MARK.exec(commands.find((one) => one.startsWith(start)) ?? '') ?? undefined;
  };
  const own = markOf(keyOf(type, commandId));
  if (own !== undefined) return read(own, own[3] === contentOf(command) ? undefined : type);
  for (const other of TYPES) {
    const mark = markOf(keyOf(other, commandId));
    if (mark !== undefined) return read(mark, other);
  }
  return undefined;
}

function read([, at = '', upTo]: RegExpExecArray, other: Command['type'] | undefined): Obeyed {
  return {
    at: Number.parseInt(at, 36),
    ...defined({ upTo: upTo === undefined ? undefined : Number.parseInt(upTo, 36), other }),
  };
}

const recent = ({ commands }: Remembering, now: number): readonly string[] =>
  commands.filter((one) => now - Number.parseInt(MARK.exec(one)?.[1] ?? '', 36) < REMEMBERED_MS);

/** Whether another command would displace one that may still be repeated. */
export const isMemoryFull = (execution: Remembering, now: number): boolean =>
  recent(execution, now).length >= MAX_REMEMBERED;

/**
 * The memory after the command is obeyed; a command without an id cannot be repeated. If there is no room,
 * which the caller has checked, the oldest is forgotten.
 * @param upTo for a retry: the latest question that it concerns
 */
export function remembering(
  execution: Remembering,
  command: Asked & { readonly now: number },
  upTo?: number,
): readonly string[] {
  const { type, commandId, now } = command;
  if (commandId === undefined || obeyedOf(execution, command) !== undefined) return execution.commands;
  const about = upTo === undefined ? '' : `.${upTo.toString(36)}`;
  const mark = `${startOf(keyOf(type, commandId))}${now.toString(36)}${about}~${contentOf(command)}`;
  return [...recent(execution, now), mark].slice(-MAX_REMEMBERED);
}
