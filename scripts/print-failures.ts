/** Prints docs/FAILURES.md from the table of failure codes. */

import { type Codes, FAILURE_CODES } from './contract/failure-codes.ts';

const HEAD = `# Failure codes

A failure is a code and a message: \`why\`, \`show\`, the console and the API have both. This page lists the codes
that the product gives. Any other is your agent's: the \`code\` of what it threw, or else the error's name.
\`npx steadfast list --code timeout\` lists the executions that ended with one, or are asked about it.
Errors of the HTTP API are in [HTTP.md](HTTP.md#errors). \`npm run docs\` prints this page.
`;

/** An alphabetical index of the codes: a reader has a code, and does not know its section. */
const index = (): string => {
  const links = FAILURE_CODES.flatMap(({ heading, rows }) =>
    rows.map(
      ([code]) =>
        `[${code}](#${heading
          .toLowerCase()
          .replace(/[^a-z ]/g, '')
          .replaceAll(' ', '-')})`,
    ),
  );
  return `\n${links.toSorted().join(' · ')}\n`;
};

const sectionOf = ({ heading, rows }: Codes): string => {
  const lines = rows.map(([code, cause, cure]) => `| \`${code}\` | ${cause} | ${cure} |`);
  return `\n## ${heading}\n\n| code | what happened | what to do |\n| --- | --- | --- |\n${lines.join('\n')}\n`;
};

export const printFailures = (): string => `${HEAD}${index()}${FAILURE_CODES.map(sectionOf).join('')}`;
