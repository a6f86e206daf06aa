/**
 * How the shape of an answer is written down, so that the compiler holds it to the type of its name.
 *
 * Owns: the registry of shapes, and what they are made of. Does not own: the shapes (`execution-answers.ts`,
 * `deployment-answers.ts`).
 */

import * as z from 'zod/mini';
import { EFFECTS, type Effect } from '../../core/plan/agent.ts';
import type { PlanStep } from '../../core/plan/plan.ts';
import type { Json } from '../../core/values/json.ts';

/** A type with each field and whether it may be absent; `readonly` is no part of JSON. */
type Plain<T> = Json extends T ? unknown : PlainOf<T>;
type PlainOf<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : {
        -readonly [Key in keyof T]-?: [Plain<T[Key]>, object extends Pick<T, Key> ? 'maybe' : 'always'];
      };
type Same<A, B> = [A, B] extends [B, A] ? unknown : { readonly differs: [A, B] };

export const SHAPES = z.registry<{ readonly id: string }>();
/** @param id the name of the type `T` */
export const shape =
  <T>(id: string) =>
  <Schema extends z.ZodMiniType>(schema: Schema & Same<Plain<z.output<Schema>>, Plain<T>>): Schema => {
    SHAPES.add(schema, { id });
    return schema;
  };

export const text = z.string();
export const count = z.int();
/** Epoch ms. */
export const at = z.int();
export const json = z.unknown();
export const maybe = z.exactOptional;
export const object = z.strictObject;
export const listOf = z.array;
export const yes = maybe(z.literal(true));

export const kind = z.enum([
  'agent',
  'wait',
  'callback',
  'approval',
  'child',
  'map',
] satisfies PlanStep['kind'][]);
export const effect = z.enum(EFFECTS as readonly [Effect, ...Effect[]]);
