/**
 * Names of workflows, steps and agents, and of everything that becomes part of a key.
 *
 * Owns: the legal names, including an item's. No key of the store is built from anything else (`#` separates
 * key parts and is in no legal name).
 */

import { refuse } from './errors.ts';

const INHERITED: ReadonlySet<string> = new Set(['constructor', 'prototype']);
const NAME = /^[a-z][a-z0-9-]{0,47}$/;
const ITEM = /^([a-z][a-z0-9-]{0,47})\[(0|[1-9]\d{0,4})\]$/;
/**
 * A child's id has the parent's id, its step and the index, with dots between; no name and no other id has
 * one.
 */
const EXECUTION_ID = /^[a-z0-9-]{1,64}(\.[a-z0-9-]{1,48}){0,20}$/;

export const NAME_WANTED =
  "a lower-case letter, then up to 47 lower-case letters, digits or dashes; not 'constructor', not 'prototype'";

/** @throws SteadfastError `bad-name` with the given name and what is allowed */
export function checkName(name: string, what: string): void {
  if (!isName(name)) {
    throw refuse(
      'bad-name',
      `${what} name ${JSON.stringify(String(name).slice(0, 60))} is not allowed: ${NAME_WANTED}`,
    );
  }
}

/** Names become keys of records: none may be a key that objects inherit. */
export const isName = (text: string): boolean =>
  typeof text === 'string' && NAME.test(text) && !INHERITED.has(text);
/** The name of an item of a list: the list's step and the item's place in it, 'rooms[3]'. */
export const isItemName = (text: string): boolean => ITEM.test(text);

/** A step's name in a plan: one that an author gave, or an item's. */
export const isStepName = (text: string): boolean => isName(text) || isItemName(text);

/**
 * A step's name in ids and keys that leave the deployment: for an item of a list only its place, because
 * brackets have a meaning in a shell, in an address and in a pattern of files.
 */
export const keyPartOf = (stepName: string): string => ITEM.exec(stepName)?.[2] ?? stepName;

/** The execution that was started from outside and that this one is a part of, or itself. */
export const rootOf = (executionId: string): string => executionId.split('.', 1)[0] as string;

export const isExecutionId = (text: string): boolean => EXECUTION_ID.test(text);
