/**
 * Generates docs/not-verified.md from the checks.
 *
 * Owns: the page's text around its rows. Does not own: the rows (`checks/`).
 */

import { AREAS, type Entry, isCheck } from './check.ts';
import { ENTRIES, REASONS } from './checks/table.ts';

const HEAD = `# Not verified without an AWS account

Steadfast has not been deployed to a real account yet. AWS documents what is listed here, and the template
sets it; only a deployment shows it. One command checks it:

\`\`\`sh
npx steadfast verify --throwaway --report verified
\`\`\`

- **Safety does not rest on this list.** The state table decides by conditional writes. If something here
  fails, executions are late, refused or expensive. **Bold** rows stop work until a person acts; alarms say
  so.
- **Cost and latency on AWS** are modelled, not measured
  ([BENCHMARKS.md](BENCHMARKS.md#what-is-not-measured)).
- Nor has the command met an account. \`verify --local\` checks what a local cloud can answer.

Each row has its check; or a person checks it, because
${Object.entries(REASONS)
  .map(([word, why]) => `(${word}) ${why}`)
  .join(', ')}. \`npm run docs\` prints this page.
`;

export function printNotVerified(entries: readonly Entry[] = ENTRIES): string {
  const sections = AREAS.map((area) => {
    const rows = entries.filter((entry) => entry.area === area).map(rowOf);
    return `\n## ${area}\n\n|check|row|how|\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${HEAD}${sections.join('')}`;
}

/** A row without blanks between cells: the page has a word limit, and each bar would count as a word. */
function rowOf(entry: Entry): string {
  const id = entry.stops === true ? `**${entry.id}**` : entry.id;
  return `|${id}|${entry.row}|${howOf(entry)}|`;
}

function howOf(entry: Entry): string {
  if (isCheck(entry)) return '';
  const [word = ''] = Object.entries(REASONS).find(([, why]) => why === entry.byHand) ?? [];
  return word;
}
