// Drags and zooms the picture of a life: asks the server for the span that is looked at. Without it links do the same.
"use strict";
