/**
 * The types of references: which values exist for certain, and where one that may be absent is accepted.
 *
 * Does not own: the values (`references.ts`), the same check by schemas for authors without types
 * (`absence-check.ts`).
 */

declare const EXPRESSION: unique symbol;
declare const MAYBE: unique symbol;
declare const WHY: unique symbol;

/**
 * A typed reference to a value that exists only when the execution runs. A part that may be absent, or that
 * belongs to a value that may be null, is a `MaybeRef`.
 */
export type Ref<T> = RefTo<T> & (null extends T ? MaybeFields<Exclude<T, null>, MayBeAbsent> : RefFields<T>);
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
/** True if a field may be absent, as any key of a record may. An `unknown` field counts as present. */
type IsOptional<T, Key extends keyof T> =
  {} extends Pick<T, Key> ? true : unknown extends T[Key] ? false : undefined extends T[Key] ? true : false;

/** The text of a type error about a value that may be absent. */
export type MayBeAbsent = 'may be absent: use orElse(…), or required(…) in a step with when: exists(…)';
/** The text of a type error about a step that may not succeed. */
export type MayNotSucceed =
  'its step may fail or be skipped: use orElse(…), or required(…) in a step with when: succeeded(…)';

/** The text of a type error about a failure that may not have happened. */
export type MayNotFail =
  'its step may not have failed: use orElse(…), or required(…) in a step with when: failed(…)';

/**
 * A reference to a value that may be missing: an optional field, or the output of a step that may fail or be
 * skipped. `orElse` or `required` turns it into a `Ref`. An optional field also accepts it as it is.
 */
export type MaybeRef<T, Why extends string = string> = MaybeRefTo<T, Why> &
  MaybeFields<Exclude<T, null>, Why>;
/** Any such reference. It is an interface, so that a project's declaration files can name it. */
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
/** A reference that only shows the type of its value. */
export interface RefTo<T> {
  readonly [EXPRESSION]: T;
}
type WhereOptional<T, Key extends keyof T> =
  IsOptional<T, Key> extends true ? MaybeRef<Exclude<T[Key], undefined>, MayBeAbsent> : never;

/**
 * A condition on references, made by `eq`, `ne`, `lt`, `gt`, `isIn`, `exists`, `failed`, `and`, `or`, `not`,
 * … A comparison such as `===` is not one: it would compare the reference, not its value.
 */
export interface Condition {
  readonly [EXPRESSION]: boolean;
}

/**
 * The type of an execution's output, derived from the return value of the author's function. A field that may
 * be absent is optional, and null in a list. The output of a step that may not succeed is refused with the
 * plan.
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
