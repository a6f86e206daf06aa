/** The details that are derived from a step's record besides its status. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STEP_DETAILS } from '../../lib/core/step-details.ts';

it('what a status alone does not say is said by a field that records have', () => {
  const records = readFileSync(join(import.meta.dirname, '../../lib/core/records/state.ts'), 'utf8');
  const fields = Object.values(STEP_DETAILS).map(({ field }) => field);
  expect(fields.filter((field) => !records.includes(`  readonly ${field}?: `))).toEqual([]);
  expect(fields).toContain('nextStage');
});
