/**
 * Attribute values: which are accepted, how large they are, how they compare. Pure.
 *
 * Owns: the form of a number, sizes as DynamoDB counts them, order and equality. Does not own: which
 * attributes are keys (`table.ts`).
 *
 * Accepts the types in our records: text, numbers, booleans, null, lists and maps. Refuses sets and bytes.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './refusals.ts';

export type Item = Record<string, AttributeValue>;

export const MAX_ITEM_BYTES = 409_600;

/** A number that needs no normalizing, such as a time or a count. */
const COUNT = /^[1-9]\d{0,13}[1-9]$|^[1-9]$/;
const PLAIN = /^(?:0|-?[1-9]\d{0,14})$/;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
const MAX_DIGITS = 38;

interface Decimal {
  readonly sign: 1 | -1;
  /** The digits without zeros at either end; empty for zero. */
  readonly digits: string;
  /** The value is 0.digits × 10^exponent. */
  readonly exponent: number;
}

function decimalOf(text: string): Decimal {
  const [whole, sign, before = '', after = '', power = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined || before + after === '')
    throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  const all = before + after;
  const digits = all.replace(/^0+/, '').replace(/0+$/, '');
  const leading = all.length - all.replace(/^0+/, '').length;
  const exponent = before.length - leading + Number(power);
  if (digits.length > MAX_DIGITS)
    throw invalid('Attempting to store more than 38 significant digits in a Number');
  if (digits !== '' && exponent > 126)
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (digits !== '' && exponent < -129)
    throw invalid(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return { sign: sign === '-' && digits !== '' ? -1 : 1, digits, exponent: digits === '' ? 0 : exponent };
}

/** Normalizes a number to the form that DynamoDB returns, without an exponent. */
export function numberText(text: string): string {
  if (PLAIN.test(text)) return text;
  const { sign, digits, exponent } = decimalOf(text);
  if (digits === '') return '0';
  const minus = sign === -1 ? '-' : '';
  if (exponent <= 0) return `${minus}0.${'0'.repeat(-exponent)}${digits}`;
  if (exponent >= digits.length) return minus + digits.padEnd(exponent, '0');
  return `${minus}${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

export function compareNumbers(one: string, other: string): number {
  if (PLAIN.test(one) && PLAIN.test(other)) return Number(one) - Number(other);
  const [a, b] = [decimalOf(one), decimalOf(other)];
  const signOf = ({ sign, digits }: Decimal): number => (digits === '' ? 0 : sign);
  if (signOf(a) !== signOf(b) || a.digits === '') return signOf(a) - signOf(b);
  if (a.exponent !== b.exponent) return (a.exponent - b.exponent) * a.sign;
  if (a.digits === b.digits) return 0;
  return (a.digits < b.digits ? -1 : 1) * a.sign;
}

/** Compares texts by their bytes in UTF-8, which is not the order of JavaScript's own `<`. */
export const compareTexts = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));

/** @returns undefined if the two are not both text or both numbers */
export function compare(one: AttributeValue, other: AttributeValue): number | undefined {
  if (one.S !== undefined && other.S !== undefined) return compareTexts(one.S, other.S);
  if (one.N !== undefined && other.N !== undefined) return compareNumbers(one.N, other.N);
  return undefined;
}

export function isEqual(one: AttributeValue, other: AttributeValue): boolean {
  if (one.S !== undefined) return one.S === other.S;
  if (one.N !== undefined) return other.N !== undefined && compareNumbers(one.N, other.N) === 0;
  if (one.BOOL !== undefined) return one.BOOL === other.BOOL;
  if (one.NULL !== undefined) return other.NULL !== undefined;
  const [own, its] = [one.L ?? one.M ?? {}, other.L ?? other.M];
  if (its === undefined || Array.isArray(own) !== Array.isArray(its)) return false;
  const entries = Object.entries(own) as [string, AttributeValue][];
  return (
    entries.length === Object.keys(its).length &&
    entries.every(([name, value]) => {
      const found = (its as Item)[name];
      return found !== undefined && isEqual(value, found);
    })
  );
}

/** Whether two items are equal. */
export const isSame = (one: Item, other: Item): boolean => isEqual({ M: one }, { M: other });

const bytesOf = (text: string): number => Buffer.byteLength(text);

const numberBytes = (text: string): number => {
  if (COUNT.test(text)) return Math.ceil(text.length / 2) + 1;
  const digits = text.replace(/^-/, '').replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

interface Sized {
  readonly value: AttributeValue;
  readonly bytes: number;
}

/** The value in its stored form. @throws ValidationException */
function sized(value: AttributeValue): Sized {
  let type: string | undefined;
  let isOne = true;
  for (const name in value) {
    if (value[name as 'S'] === undefined) continue;
    isOne = type === undefined;
    type = name;
    if (!isOne) break;
  }
  if (!isOne)
    throw invalid(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  switch (type) {
    case 'S':
      return { value, bytes: bytesOf(value.S ?? '') };
    case 'N': {
      const text = numberText(value.N ?? '');
      return { value: text === value.N ? value : { N: text }, bytes: numberBytes(text) };
    }
    case 'BOOL':
    case 'NULL':
      return { value, bytes: 1 };
    case 'L': {
      const parts = (value.L ?? []).map(sized);
      const bytes = parts.reduce((sum, part) => sum + part.bytes + 1, 3);
      return { value: { L: parts.map((part) => part.value) }, bytes };
    }
    case 'M': {
      const { item, bytes } = measured(value.M ?? {});
      return { value: { M: item }, bytes: bytes + 3 + Object.keys(item).length };
    }
    default:
      throw invalid(
        `a value of the type ${type ?? 'nothing'} is not kept: text, numbers, booleans, null, lists and maps are`,
      );
  }
}

/**
 * An item in its stored form, and its size.
 * @throws ValidationException
 */
export function measured(item: Item): { readonly item: Item; readonly bytes: number } {
  let bytes = 0;
  let kept = item;
  for (const name in item) {
    const given = item[name] as AttributeValue;
    if (given.S !== undefined && given.N === undefined && given.BOOL === undefined) {
      bytes += bytesOf(name) + bytesOf(given.S);
      continue;
    }
    const { value, bytes: own } = sized(given);
    bytes += bytesOf(name) + own;
    if (value === given) continue;
    if (kept === item) kept = { ...item };
    kept[name] = value;
  }
  return { item: kept, bytes };
}
