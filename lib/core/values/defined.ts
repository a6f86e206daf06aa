/**
 * Fields that may be absent. A record leaves an absent field out and never sets it to `undefined`.
 */

/** A field that may be absent may also be `undefined`. */
export type OrUndefined<Fields> = {
  [Field in keyof Fields]: object extends Pick<Fields, Field> ? Fields[Field] | undefined : Fields[Field];
};

type Defined<Fields> = { [Field in keyof Fields]?: Exclude<Fields[Field], undefined> };

/** The fields without those that are `undefined`. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const there: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name as keyof Fields];
    if (value !== undefined) there[name] = value;
  }
  return there as Defined<Fields>;
}

/** The first of two values that is present: `null` is a value like any other. */
export const firstDefined = <Value>(one: Value | undefined, other: Value | undefined): Value | undefined =>
  one === undefined ? other : one;
