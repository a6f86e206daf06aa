/** The contract of every store of large values. */

import type { Values } from '../../lib/supervisor/audit-values.ts';

/** How many objects a page has, if there are pages. */
export const PAGE = 25;

export interface ValuesUnderTest {
  readonly values: Values;
  readonly close: () => Promise<void>;
}

const LONG = `r${'-x'.repeat(20)}${`.${'step-'.repeat(9)}`.repeat(15)}`;

export function describeValues(title: string, open: () => Promise<ValuesUnderTest>): void {
  describe(`large values: ${title}`, () => {
    let values: Values;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ values, close } = await open());
    });
    afterEach(() => close());

    it('reads a value as it was put, also once it is put again', async () => {
      const json = JSON.stringify({ text: 'ä€😀"\\', all: 'x'.repeat(100_000) });
      await values.put('e-1/l/input/abc/w1', json);
      await values.put('e-1/l/input/abc/w1', json);
      expect(await values.get('e-1/l/input/abc/w1')).toBe(json);
    });

    it('reports that a value which was never put does not exist', async () => {
      expect(await values.get('e-1/l/input/abc/w1')).toBeUndefined();
      await values.put('e-1/l/input/abc/w1', '1');
      expect(await values.get('e-1/l/input/abc/w2')).toBeUndefined();
      expect(await values.get('e-1/l/input/abc')).toBeUndefined();
    });

    it('takes the longest keys there are', async () => {
      expect(LONG.length).toBeGreaterThan(700);
      const key = `0a1b/${LONG}/life/step.rooms.3/${'a'.repeat(64)}/w`;
      await values.put(key, '[]');
      expect(await values.get(key)).toBe('[]');
      expect((await values.list('')).items.map((one) => one.key)).toEqual([key]);
    });

    it('lists in the order of keys, a mark before the values of its life, a child’s apart', async () => {
      const keys = [
        'e-1.step/l/!absent/1',
        'e-1.step/l/input/a/w',
        'e-1/l/!absent/17',
        'e-1/l/input/a/w',
        'e-1/l/step.a-b/a/w',
        'e-1/l/step.a/a/w',
        'e-1/l2/output/a/w',
        'e-10/l/input/a/w',
      ];
      for (const key of keys.toReversed()) await values.put(key, key.includes('!') ? '' : '"value"');
      const { items } = await values.list('');
      expect(items.map(({ key }) => key)).toEqual(keys);
      expect(items.map(({ bytes }) => bytes)).toEqual(keys.map((key) => (key.includes('!') ? 0 : 7)));
      for (const { storedAt } of items) expect(Math.abs(storedAt - Date.now())).toBeLessThan(60_000);
      expect((await values.list('e-1/l/')).items.map(({ key }) => key)).toEqual(keys.slice(2, 6));
    });

    it('lists page by page, each object once', async () => {
      const keys = Array.from({ length: 60 }, (_, at) => `e-${at}/l/input/a/w`).sort();
      await Promise.all(keys.map((key) => values.put(key, '1')));
      const found: string[] = [];
      let pages = 0;
      let cursor: string | undefined;
      do {
        const page = await values.list('', cursor);
        found.push(...page.items.map(({ key }) => key));
        cursor = page.cursor;
        pages += 1;
      } while (cursor !== undefined);
      expect(found).toEqual(keys);
      expect(pages).toBeLessThan(4);
    });

    it('removes what is named, nothing else, and again', async () => {
      for (const key of ['e/l/input/a/w', 'e/l/input/a/w2', 'e/m/input/a/w']) await values.put(key, '1');
      for (const _ of [1, 2]) await values.remove(['e/l/input/a/w', 'e/m/input/a/w']);
      expect((await values.list('')).items.map(({ key }) => key)).toEqual(['e/l/input/a/w2']);
      await values.put('e/m/input/a/w', '2');
      expect(await values.get('e/m/input/a/w')).toBe('2');
    });
  });
}
