/**
 * Finds references that a workflow's file tests as if they were values: `if (w.input.gift)`.
 *
 * Owns: reading this in the text of the file. Does not own: paths that lead nowhere (`reference-check.ts`), comparisons, which `tsc` sees.
 *
 * It reads text, not a syntax tree: it knows a reference by the builder's parameter or by what a step was assigned to, and is silent
 * about everything else.
 */

const COMMENTS_AND_TEXTS =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** A workflow's builder is the last argument: `workflow('…', { … }, (w) => …`. */
const BUILDER = /[,(]\s*\(?(\w+)\)?\s*=>/g;

/** One sentence for each reference that stands where a value is tested. */
export function testedReferences(text: string, shown: string): string[] {
  const code = text.replace(COMMENTS_AND_TEXTS, (found) => found.replace(/[^\n]/g, ' '));
  if (!/\bworkflow\s*\(/.test(code)) return [];
  const builders = [...code.matchAll(BUILDER)].map(([, name]) => name as string);
  if (builders.length === 0) return [];
  const parameter = `(?:${[...new Set(builders)].join('|')})`;
  const steps = [...code.matchAll(new RegExp(`\\bconst (\\w+) = ${parameter}\\.step\\(`, 'g'))].map(
    ([, name]) => name as string,
  );
  const roots = [`${parameter}\\.input`, ...[...new Set(steps)].map((name) => `${name}\\.output`)];
  const reference = `((?:${roots.join('|')})(?:\\.\\w+)*)`;
  const before = '(?:[(,:;{}[?&|!\\n]|[^=!<>]=|=>|\\breturn\\b)';
  const tested = new RegExp(
    `\\b(?:if|while)\\s*\\(\\s*!*${reference}\\s*\\)|${before}\\s*${reference}\\s*(?:&&|\\|\\||\\?(?![.?]))`,
    'g',
  );
  return [...code.matchAll(tested)].map((match) => {
    const written = (match[1] ?? match[2]) as string;
    const line = code.slice(0, match.index + match[0].lastIndexOf(written)).split('\n').length;
    return `${shown}:${line} tests the reference ${written}, which is always true while the workflow is built; give the step a condition (when: eq(${written}, …) or when: exists(${written})), or a default with orElse`;
  });
}
