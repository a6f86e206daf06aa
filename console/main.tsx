/** The console: starts the page. */

import { render } from 'preact';
import { Shell } from './shell.tsx';

const root = document.getElementById('console');
if (root !== null) render(<Shell />, root);
