/** Reads typed values from a resource's resolved properties, with errors that name the property. Pure. */
import { isRecord, type Json, TemplateError } from './json.ts';
import type { ResolvedResource } from './template.ts';

/** A cursor over one JSON object of a resource. */
export class Properties {
  readonly #path: string;
  readonly #values: Readonly<Record<string, Json>>;

  constructor(path: string, values: Readonly<Record<string, Json>>) {
    this.#path = path;
    this.#values = values;
  }

  /** The properties of a resource. */
  static of(resource: ResolvedResource): Properties {
    return new Properties(`${resource.logicalId}.Properties`, resource.properties);
  }

  /** The path of a property, for errors. */
  path(name: string): string {
    return `${this.#path}.${name}`;
  }

  raw(name: string): Json | undefined {
    const value = this.#values[name];
    return value === null ? undefined : value;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#refuse(name, 'a string');
  }

  optionalText(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : this.#refuse(name, 'a string');
  }

  number(name: string, fallback: number): number {
    return this.optionalNumber(name) ?? fallback;
  }

  optionalNumber(name: string): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    return typeof value === 'object' || Number.isNaN(number) ? this.#refuse(name, 'a number') : number;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.raw(name);
    return value === undefined ? fallback : value === true || value === 'true';
  }

  child(name: string): Properties {
    return this.optionalChild(name) ?? new Properties(this.path(name), {});
  }

  optionalChild(name: string): Properties | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    return isRecord(value) ? new Properties(this.path(name), value) : this.#refuse(name, 'an object');
  }

  children(name: string): Properties[] {
    return this.list(name).map((item, index) => {
      const path = `${this.path(name)}[${index}]`;
      if (!isRecord(item))
        throw new TemplateError(path, `an object was expected, got ${JSON.stringify(item)}`);
      return new Properties(path, item);
    });
  }

  list(name: string): Json[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    return Array.isArray(value) ? value : this.#refuse(name, 'a list');
  }

  #refuse(name: string, expected: string): never {
    throw new TemplateError(
      this.path(name),
      `${expected} was expected, got ${JSON.stringify(this.#values[name])}`,
    );
  }
}
