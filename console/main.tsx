/** The console: starts the page. */

import { render } from 'preact';
import { settings } from './api.ts';
import { readAgain } from './live.ts';
import { Shell } from './shell.tsx';
import { hearWrites } from './writes.ts';

const root = document.getElementById('console');
if (root !== null) render(<Shell />, root);
if (settings.tellsWrites) void hearWrites(readAgain);
