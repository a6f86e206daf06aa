/**
 * The site of the documents in `docs/` and beside it: pages with a menu and a search. The menu is the table
 * of `docs/README.md`, in its order; a page that is in none of its rows has no entry.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = /^((README|CONTRIBUTING|docs\/(decisions\/)?[\w-]+)|examples\/([\w-]+\/)?README)\.md$/;
/** The address of files that are not pages, such as code. Without it, links to them are plain text. */
const REPOSITORY = process.env['DOCS_REPOSITORY'];
/** The path at which a host serves the site, with a slash at both ends. */
const BASE = process.env['DOCS_BASE'] ?? '/';

const isPage = (path: string): boolean => PAGE.test(path) && existsSync(join(ROOT, path));
const titleOf = (page: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1] ?? page;

/** A folder is opened by its `README.md`, on the site as in the repository. */
const indexed = (path: string): string => path.replace(/README\.md$/, 'index.md');

/** `docs/README.md`: a row that begins with '**Write:**' begins a group of the menu. */
function menu(): DefaultTheme.SidebarItem[] {
  const groups: { text: string; items: { text: string; link: string }[] }[] = [{ text: 'Begin', items: [] }];
  const listed = new Set<string>();
  const add = (page: string): void => {
    if (listed.has(page) || !isPage(page)) return;
    listed.add(page);
    const title = page === 'README.md' ? 'What it is' : titleOf(page).replace(/:.*/, '');
    groups.at(-1)?.items.push({ text: title, link: `/${indexed(page).replace(/(index)?\.md$/, '')}` });
  };
  add('README.md');
  add('docs/README.md');
  for (const line of readFileSync(join(ROOT, 'docs/README.md'), 'utf8').split('\n')) {
    const [, row] = /^\| (.*) \|$/.exec(line) ?? [];
    const [, group] = /^\*\*(\w+):\*\*/.exec(row ?? '') ?? [];
    if (group !== undefined) groups.push({ text: group, items: [] });
    for (const [, link = ''] of (row ?? '').matchAll(/\]\(([^)#]+\.md)/g))
      add(join('docs', link).replaceAll('\\', '/'));
  }
  return groups;
}

/** Links as they are right in the repository become links that are right on the site. */
function links(md: Markdown): void {
  md.core.ruler.push('links-to-pages', (state) => {
    const from = String((state.env as { relativePath?: string }).relativePath ?? '');
    let isPlain = false;
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_close' && isPlain) [token.tag, isPlain] = ['span', false];
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
      const [path = '', anchor] = href.split('#');
      const target = join(from, '..', path).replaceAll('\\', '/');
      const page = [target, join(target, 'README.md')].find(isPage);
      if (page !== undefined)
        token.attrSet('href', `/${indexed(page)}${anchor === undefined ? '' : `#${anchor}`}`);
      else if (!existsSync(join(ROOT, target)))
        throw new Error(`${from} links to ${href}, which there is not`);
      else if (REPOSITORY !== undefined) token.attrSet('href', `${REPOSITORY}/blob/main/${target}`);
      else [token.tag, token.attrs, isPlain] = ['span', null, true];
    }
    return true;
  });
}

/** An anchor as GitHub makes it, because the documents' links must work there, too. */
const slug = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

export default defineConfig({
  title: 'Steadfast',
  description: 'The Scheduler-Agent-Supervisor pattern on your own AWS account',
  srcDir: relative(join(import.meta.dirname, '..'), ROOT),
  srcExclude: [
    ...readdirSync(ROOT)
      .filter((name) => !['docs', 'examples'].includes(name) && !isPage(name))
      .flatMap((name) => [name, `${name}/**`]),
    'docs/site/**',
    'examples/**/!(README).md',
  ],
  rewrites: (page) => indexed(page),
  base: BASE,
  outDir: join(import.meta.dirname, '../dist'),
  cacheDir: join(import.meta.dirname, '../node_modules/.vitepress'),
  // Keeps browsers from requesting an icon that does not exist.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  lang: 'en',
  markdown: { config: links, anchor: { slugify: slug } },
  vite: {
    // The pages are above this folder, from where Vue is not found.
    resolve: {
      alias: [{ find: /^vue(?=$|\/)/, replacement: join(import.meta.dirname, '../node_modules/vue') }],
    },
    server: { fs: { allow: [ROOT] } },
  },
  themeConfig: {
    sidebar: menu(),
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
});
