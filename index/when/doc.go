// Package when finds the times that a text names, in English and Chinese, and resolves them against the day it was said: "on 7 May 2023",
// "last week", "two months ago", "上周三", "去年五月". It reads words one by one and asks for no pattern engine, so that it can be run over
// every candidate of a search.
package when
