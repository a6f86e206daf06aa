/**
 * docs/not-verified.md is generated from the checks: each row has a check, or says why a person must check
 * it.
 */

import { printNotVerified } from '../../../cli/verify/page.ts';
import { isCheck } from '../../../cli/verify/check.ts';
import { ENTRIES } from '../../../cli/verify/checks/table.ts';
import { PRINTED, writtenDocument } from '../../../scripts/docs.ts';

const text = printNotVerified();

it('is the page as it is written, of at most 1,000 words', () => {
  expect(Object.keys(PRINTED)).toContain('docs/not-verified.md');
  expect(writtenDocument('docs/not-verified.md')).toBe(text);
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(1_000);
});

it('has each row once, with its check or why it has none', () => {
  const rows = [...text.matchAll(/^\|(?:\*\*)?([a-z-]+)(?:\*\*)?\|([^|]+)\|([^|]*)\|$/gm)]
    .map(([, id, row, how]) => [id, row, how])
    .filter(([id]) => id !== 'check' && id !== '---');
  expect(rows).toHaveLength(ENTRIES.length);
  for (const entry of ENTRIES) {
    const [, row, how] = rows.find(([id]) => id === entry.id) ?? [];
    expect(row).toBe(entry.row);
    if (!isCheck(entry)) expect(how).toMatch(/^(?:absent|twice|long|other|person)$/);
  }
});
