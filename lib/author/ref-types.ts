/**
 * The types of references: what an author may read without asking, and where what may be absent may be given.
 *
 * Owns: these types. Does not own: the values (`references.ts`); the same asked of the schemas, for authors
 * whom no types help (`absence-check.ts`).
 */

declare const EXPRESSION: unique symbol;
declare const MAYBE: unique symbol;
declare const WHY: unique symbol;

/**
 * A typed reference to a value that exists only when the execution runs. What may
 * be absent in it is a `MaybeRef`.
 */
export type Ref<T> = RefTo<T> & RefFields<T>;
type RefFields<T> = T extends readonly (infer Item)[]
  ? IsTuple<T> extends true
    ? { readonly [Key in Extract<keyof T, `${number}`>]: RefField<T, Key> }
    : { readonly [index: number]: MaybeRef<Item, MayBeAbsent> }
  : T extends object
    ? { readonly [Key in keyof T]-?: RefField<T, Key> }
    : unknown;
type RefField<T, Key extends keyof T> =
  IsOptional<T, Key> extends true ? MaybeRef<Exclude<T[Key], undefined>, MayBeAbsent> : Ref<T[Key]>;

type IsTuple<T extends readonly unknown[]> = number extends T['length']
  ? false
  : T extends readonly []
    ? false
    : true;
/** Also of a record, whose keys are any. What is `unknown` is not said to be absent. */
type IsOptional<T, Key extends keyof T> =
  {} extends Pick<T, Key> ? true : unknown extends T[Key] ? false : undefined extends T[Key] ? true : false;

/** Texts that a type error shows. */
export type MayBeAbsent = 'may be absent: use orElse(…), or required(…) in a step with when: exists(…)';
/** Likewise. */
export type MayNotSucceed =
  'its step may fail or be skipped: use orElse(…), or required(…) in a step with when: succeeded(…)';

/** Likewise, of a failure. */
export type MayNotFail =
  'its step may not have failed: use orElse(…), or required(…) in a step with when: failed(…)';

/**
 * A reference to what may be missing: an optional field, or the output of a step that may fail or be skipped.
 * `orElse` or `required` makes a `Ref` of it. An optional field may be given to an optional field as it is.
 */
export type MaybeRef<T, Why extends string = string> = MaybeRefTo<T, Why> & MaybeFields<T, Why>;
/** Any such reference. It has a name, so that a project's declarations can say it. */
export interface MaybeRefTo<T, Why extends string> {
  readonly [MAYBE]: T;
  readonly [WHY]: Why;
}
type MaybeFields<T, Why extends string> = T extends readonly (infer Item)[]
  ? { readonly [index: number]: MaybeRef<Item, Why> }
  : T extends object
    ? { readonly [Key in keyof T]-?: MaybeRef<Exclude<T[Key], undefined>, Why> }
    : unknown;

/**
 * A value that an author may write in place of a `T`: the value, a reference to it, or a structure of both.
 */
export type Input<T> =
  | RefTo<T>
  | (T extends string | number | boolean | null | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Input<Item>[]
        : { readonly [Key in keyof T]: Input<T[Key]> | WhereOptional<T, Key> });
/** Any reference to such a value: how its fields are read does not matter where it is given. */
export interface RefTo<T> {
  readonly [EXPRESSION]: T;
}
type WhereOptional<T, Key extends keyof T> =
  IsOptional<T, Key> extends true ? MaybeRef<Exclude<T[Key], undefined>, MayBeAbsent> : never;

/** A condition on references; made by `eq`, `exists`, `and`, … */
export interface Condition {
  readonly [EXPRESSION]: boolean;
}

/**
 * The type of an execution's output, from what the author's function returned. A field that may be absent is
 * optional there too, and null in a list; the output of a step that may not succeed is refused with the plan.
 */
export type OutputOf<R> =
  R extends MaybeRef<infer T, MayBeAbsent>
    ? T | null
    : R extends MaybeRef<unknown>
      ? never
      : R extends Ref<infer T>
        ? T
        : R extends readonly (infer Item)[]
          ? readonly OutputOf<Item>[]
          : R extends object
            ? OutputFields<R>
            : R;
type OutputFields<R> = {
  readonly [Key in keyof R as R[Key] extends MaybeRef<unknown, MayBeAbsent> ? never : Key]: OutputOf<R[Key]>;
} & {
  readonly [Key in keyof R as R[Key] extends MaybeRef<unknown, MayBeAbsent>
    ? Key
    : never]?: R[Key] extends MaybeRef<infer T, MayBeAbsent> ? T : never;
};
